import ChatCore
import ChatModel
import Locking
import Logging

extension WebhookRegistry {
    /// Reads all webhooks and sets their lanes (the queue of each webhook). This also completes changes that a crash
    /// interrupted after the record was written and before the lane was set.
    ///
    /// - Returns: the revision of the store of records from which `follow` continues.
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
                // Webhooks with an outdated copy of the key sign with that copy as before. Other webhooks must not wait
                // for them.
                logger.error(
                    "cannot read the app's signing key; its webhooks may sign with an older key",
                    metadata: ["app": "\(app.id)", "error": "\(error.message)"])
            }
            // The lanes are set at the same time, because the store puts waiting requests into one commit.
            try await withThrowingDiscardingTaskGroup { group in
                for subscriber in snapshot.withLock({ $0.subscribers(in: app.id) }) {
                    group.addTask { try await self.updateLane(of: subscriber) }
                }
            }
        }
        return revision
    }

    /// Updates the snapshot in memory with each change of a webhook's or app's record, until the task is cancelled or
    /// the engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(from: revision, apply) { key, error in
            logger.warning(
                "cannot read a changed webhook; trying again",
                metadata: ["record": "\(key.id)", "error": "\(error.message)"])
        }
    }

    /// Updates the snapshot in memory after a record of a webhook or an app has changed. Schedules an update of the
    /// webhook's lane when the webhook becomes unreadable or readable, and when its app was deleted. For other changes,
    /// the caller that makes the change updates the lane.
    ///
    /// - Parameter record: the current state of the record; nil when the record was deleted.
    func apply(_ key: RecordKey, _ record: Record?) {
        switch key.kind {
        case .app: return record == nil ? drop(AppID(key.id)) : ()
        case .setting: return applyHealth(key, record)
        default: break
        }
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
                followActivity(snapshot, by: subscriber)
            }
            return snapshot.isUnreadable(subscriber)
        }
        if isUnreadable != wasUnreadable { pendingLanes.continuation.yield(subscriber) }
    }

    /// Updates the failures of a webhook after their record has changed, perhaps on another node.
    private func applyHealth(_ key: RecordKey, _ record: Record?) {
        guard let subscriber = WebhookHealth.subscriber(of: key) else { return }
        runtime(of: subscriber)?.follow(failingSince: record.flatMap { WebhookHealth.failingSince($0) })
    }

    /// Reads the record of a webhook or subscription, and updates the snapshot in memory.
    func refresh(_ subscriber: SubscriberID) async throws(ChatError) {
        let isSubscription = snapshot.withLock { $0.subscription(subscriber) != nil }
        let kind: RecordKind = isSubscription ? .subscription : .webhook
        try await refresh(RecordKey(kind, subscriber.name, in: subscriber.app))
    }

    private func refresh(_ key: RecordKey) async throws(ChatError) {
        if key.kind == .subscription {
            try await refreshSubscription.withLock(\.self)?(key)
        } else {
            try await mirror.refresh(key, apply)
        }
    }

    /// Applies the changes of webhooks and subscriptions that nodes have committed so far. The snapshot then contains
    /// every webhook that was created before an event which this node has seen.
    func applyCommittedChanges() async throws(ChatError) {
        while let key = committed.withLock({ $0.first }) {
            _ = committed.withLock { $0.remove(key) }
            do throws(ChatError) {
                try await refresh(key)
            } catch {
                _ = committed.withLock { $0.insert(key) }
                throw error
            }
        }
    }

    /// Sets the channels for which a subscriber receives `channel.activity`. Called under the snapshot's lock, so that the
    /// newest state is set last.
    func followActivity(_ snapshot: RegistrySnapshot, by subscriber: SubscriberID) {
        service.followActivity(snapshot.activityChannels(of: subscriber), by: subscriber)
    }

    /// Removes the webhooks of a deleted app and their deliveries.
    private func drop(_ app: AppID) {
        let subscribers = snapshot.withLock { snapshot in
            let subscribers = snapshot.drop(app)
            for subscriber in subscribers { followActivity(snapshot, by: subscriber) }
            return subscribers
        }
        for subscriber in subscribers { pendingLanes.continuation.yield(subscriber) }
    }

    /// Makes the deliveries of a webhook with an unreadable record wait until the record can be read.
    func hold(_ subscriber: SubscriberID) async throws(ChatError) {
        try await mirror.refresh(Webhook.recordKey(of: subscriber), apply)
        try await updateLane(of: subscriber)
    }

    /// Updates the lanes (the queues of webhooks) that could not be updated when their webhooks were changed. Each
    /// update is retried until it succeeds, because an open lane would continue to send and a paused lane would never
    /// send. Runs until the task is cancelled. Only one task may call it.
    func updatePendingLanes() async {
        for await subscriber in pendingLanes.stream {
            while !Task.isCancelled {
                do {
                    if snapshot.withLock({ !$0.isKnown(subscriber) }) { try await closeLane(of: subscriber) }
                    try await setLane(of: subscriber)
                    break
                } catch {
                    logger.warning(
                        "cannot apply the webhook's status to its deliveries; trying again",
                        metadata: ["webhook": "\(subscriber)", "error": "\(error.message)"])
                    // The loop's condition checks for cancellation.
                    try? await Task.sleep(for: options.laneRetryPause)
                }
            }
        }
    }
}

extension WebhookRegistry {
    /// The maximum number of waiting deliveries that are checked when a caller without access to all events changes the
    /// receiver.
    private static let mostLookedAt = 20_000

    /// Requires that the caller may read all waiting deliveries before it changes the receiver. The deliveries may have
    /// been planned under earlier, wider settings.
    ///
    /// - Throws: `.forbidden` when the caller may not read all of them, or when there are too many to check.
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
                    "this credential does not have access to all waiting deliveries of this webhook, or there are too many waiting deliveries to check"
                )
            }
            query.cursor = page.cursor
        } while query.cursor != nil
    }
}

extension WebhookSettings {
    /// The settings that determine where posts are sent.
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
