import ChatCore
import ChatModel
import Locking
import Logging

extension WebhookRegistry {
    /// Reads every webhook and sets the lanes accordingly. This completes changes that a crash interrupted between
    /// their two writes.
    ///
    /// - Returns: the revision from which `follow` continues.
    func load() async throws -> Revision {
        let revision = try await directory.revision()
        for app in service.keyring.apps {
            try await mirror.load(.webhook, in: app.id, apply)
            for (subscriber, since) in try await health.load(app.id) {
                runtime(of: subscriber)?.load(failingSince: since)
            }
            do throws(ChatError) {
                try await updateSigningKeyCopies(of: app.id)
            } catch {
                // They sign as before, and other webhooks must not wait for them.
                logger.error(
                    "cannot provide the signing key", metadata: ["app": "\(app.id)", "error": "\(error.message)"])
            }
            // All at once: the store commits waiting requests together.
            try await withThrowingDiscardingTaskGroup { group in
                for subscriber in snapshot.withLock({ $0.subscribers(in: app.id) }) {
                    group.addTask { try await self.updateLane(of: subscriber) }
                }
            }
        }
        return revision
    }

    /// Applies changes of the directory until cancelled or until the engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(from: revision, apply) { key, error in
            logger.warning(
                "cannot read the webhook's record", metadata: ["record": "\(key.id)", "error": "\(error.message)"])
        }
    }

    /// Applies the current state of a record. Schedules the lane for an update when the webhook became unreadable or
    /// was, and when its app is gone. For other changes the caller that makes them updates the lane.
    func apply(_ key: RecordKey, _ record: Record?) {
        guard key.kind == .webhook else { return record == nil ? drop(AppID(key.id)) : () }
        let subscriber = SubscriberID(key.id, in: key.app)
        let webhook = record.flatMap { Webhook($0, service.vault) }
        let isUnreadable = record != nil && webhook == nil
        let selection = isUnreadable ? record.flatMap { RecordReader($0, service.vault).selection() } : nil
        if isUnreadable {
            logger.error(
                "cannot parse the webhook's record; its deliveries are held", metadata: ["webhook": "\(subscriber)"])
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
        if isUnreadable || wasUnreadable { pendingLanes.continuation.yield(subscriber) }
    }

    /// Sets the channels for which `channel.activity` is emitted. Runs under the snapshot's lock, so that the newest
    /// state is set last.
    func followActivity(_ snapshot: RegistrySnapshot, of app: AppID) {
        service.followActivity(snapshot.activityChannels(in: app), in: app)
    }

    /// Removes the webhooks of an app that is gone, with their deliveries.
    private func drop(_ app: AppID) {
        let subscribers = snapshot.withLock { snapshot in
            defer { followActivity(snapshot, of: app) }
            return snapshot.drop(app)
        }
        for subscriber in subscribers { pendingLanes.continuation.yield(subscriber) }
    }

    /// Holds the deliveries of a webhook whose record exists and cannot be read, until it can be read.
    func hold(_ subscriber: SubscriberID) async throws(ChatError) {
        try await mirror.refresh(Webhook.recordKey(of: subscriber), apply)
        try await updateLane(of: subscriber)
    }

    /// Updates lanes that could not be updated when their webhook was changed, and retries each until it succeeds: a
    /// lane left open would continue to send, and one left paused would never send. Runs until cancelled; only one task
    /// may call it.
    func updatePendingLanes() async {
        for await subscriber in pendingLanes.stream {
            while !Task.isCancelled {
                do {
                    if snapshot.withLock({ !$0.isKnown(subscriber) }) { try await closeLane(of: subscriber) }
                    try await setLane(of: subscriber)
                    break
                } catch {
                    logger.warning(
                        "cannot set the webhook's lane",
                        metadata: ["webhook": "\(subscriber)", "error": "\(error.message)"])
                    // Cancellation shows at the loop's head; the pause carries no other news.
                    try? await Task.sleep(for: options.laneRetryPause)
                }
            }
        }
    }
}

extension WebhookRegistry {
    /// The maximum number of waiting deliveries checked one by one before a caller that may not read everything can
    /// change the receiver.
    private static let mostLookedAt = 20_000

    /// Requires that the caller may read all waiting deliveries before it changes the receiver. They may have been
    /// planned under wider settings than the present ones.
    ///
    /// - Throws: `.forbidden`.
    func requireReach(
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
                    "this credential does not reach every waiting delivery of this webhook, or too many wait to check"
                )
            }
            query.cursor = page.cursor
        } while query.cursor != nil
    }
}

extension WebhookSettings {
    /// The settings that determine who receives the posts.
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
