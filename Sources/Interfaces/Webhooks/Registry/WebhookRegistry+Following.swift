import ChatCore
import ChatModel
import Locking
import Logging

extension WebhookRegistry {
    /// Reads every webhook and brings the lanes in line with them, which makes good what a crash between the two writes
    /// of a change left undone.
    ///
    /// - Returns: the revision from which `follow` goes on.
    func load() async throws -> Revision {
        let revision = try await directory.revision()
        for app in service.keyring.apps {
            try await health.load(app.id)
            try await mirror.load(.webhook, in: app.id, take)
            do throws(ChatError) {
                try await handOutSigningKey(of: app.id)
            } catch {
                // They sign as before, and the others are not to wait for it.
                logger.error(
                    "signing key not handed out", metadata: ["app": "\(app.id)", "error": "\(error.message)"])
            }
            // All at once: the store commits together what waits together.
            try await withThrowingDiscardingTaskGroup { group in
                for subscriber in snapshot.withLock({ $0.subscribers(in: app.id) }) {
                    group.addTask { try await self.settleLane(of: subscriber) }
                }
            }
        }
        return revision
    }

    /// Applies what changes in the directory, until cancelled or until the engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(from: revision, take) { key, error in
            logger.warning(
                "webhook record not readable", metadata: ["record": "\(key.id)", "error": "\(error.message)"])
        }
    }

    /// Takes a record in as it is now, and notes whose lane is to be brought in line: that of a webhook that became
    /// unreadable or was, or whose app is gone. For other changes it is done by whoever makes them.
    func take(_ key: RecordKey, _ record: Record?) {
        guard key.kind == .webhook else { return record == nil ? drop(AppID(key.id)) : () }
        let subscriber = SubscriberID(key.id, in: key.app)
        let webhook = record.flatMap { Webhook($0, service.vault) }
        let isUnreadable = record != nil && webhook == nil
        let selection = isUnreadable ? record.flatMap { RecordReader($0, service.vault).selection() } : nil
        if isUnreadable {
            logger.error(
                "webhook record not understood; its deliveries are held", metadata: ["webhook": "\(subscriber)"])
        }
        let wasUnreadable = snapshot.withLock { snapshot in
            defer {
                if isUnreadable {
                    snapshot.setUnreadable(subscriber, selection)
                } else {
                    snapshot.apply(subscriber, webhook)
                }
                followActivity(snapshot, of: subscriber.app)
            }
            return snapshot.isUnreadable(subscriber)
        }
        if isUnreadable || wasUnreadable { unsettled.continuation.yield(subscriber) }
    }

    /// Says which channels are to be told of by `channel.activity`. Under the snapshot's lock, so that the newest comes last.
    func followActivity(_ snapshot: RegistrySnapshot, of app: AppID) {
        service.followActivity(snapshot.activityChannels(in: app), in: app)
    }

    /// The app is gone: so is what was owed to its webhooks.
    private func drop(_ app: AppID) {
        let subscribers = snapshot.withLock { snapshot in
            defer { followActivity(snapshot, of: app) }
            return snapshot.drop(app)
        }
        for subscriber in subscribers { unsettled.continuation.yield(subscriber) }
    }

    /// Holds the deliveries of a webhook whose record is there and cannot be read, until it can be.
    func hold(_ subscriber: SubscriberID) async throws(ChatError) {
        try await mirror.refresh(Webhook.recordKey(of: subscriber), take)
        try await settleLane(of: subscriber)
    }

    /// Brings lanes in line that whoever changed their webhooks could not, each until it is done: one left open would go on
    /// sending, one left paused would never send. Until cancelled; once.
    func settleUnsettled() async {
        for await subscriber in unsettled.stream {
            while !Task.isCancelled {
                do {
                    if snapshot.withLock({ !$0.isKnown(subscriber) }) { try await closeLane(of: subscriber) }
                    try await setLane(of: subscriber)
                    break
                } catch {
                    logger.warning("lane not set", metadata: ["webhook": "\(subscriber)", "error": "\(error.message)"])
                    // Cancellation shows at the loop's head; the pause carries no other news.
                    try? await Task.sleep(for: options.settlePause)
                }
            }
        }
    }
}

extension WebhookRegistry {
    /// Deliveries looked at, one by one, before somebody who does not reach everything may turn them elsewhere.
    private static let mostLookedAt = 20_000

    /// What waits may be owed under wider settings than the present ones: who leads it elsewhere must reach it too.
    /// - Throws: `.forbidden`.
    func demandReach(
        ofWhatWaitsFor old: Webhook, turnedTo new: WebhookSettings, by caller: Caller
    ) async throws(ChatError) {
        guard old.settings.receiver != new.receiver, !DeliveryScope.Reach(caller).isEverything else { return }
        var query = DeliveryQuery(app: old.app, limit: JobSelection.pageSize)
        query.subscriber = old.id
        query.statuses = [.pending, .failed, .held]
        var seen = 0
        repeat {
            let page = try await queue.list(query)
            seen += page.items.count
            guard page.items.allSatisfy(caller.reaches), seen < Self.mostLookedAt || page.cursor == nil else {
                throw ChatError(
                    .forbidden,
                    "deliveries wait for this webhook that this credential does not reach, or too many to tell")
            }
            query.cursor = page.cursor
        } while query.cursor != nil
    }
}

extension WebhookSettings {
    /// Who gets what is posted.
    fileprivate var receiver: Receiver {
        Receiver(url: url, auth: auth, certificate: tls?.certificate, authorities: tls?.authorities)
    }

    fileprivate struct Receiver: Equatable {
        var url: String
        var auth: WebhookAuth?
        var certificate: String?
        var authorities: String?
    }
}
