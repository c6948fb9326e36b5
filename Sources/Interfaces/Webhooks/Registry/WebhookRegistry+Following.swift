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
                for endpoint in snapshot.withLock({ $0.endpoints(in: app.id) }) {
                    group.addTask { try await self.settleLane(of: endpoint) }
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
        let endpoint = EndpointID(key.id, in: key.app)
        let webhook = record.flatMap { Webhook($0, service.vault) }
        let isUnreadable = record != nil && webhook == nil
        let selection = isUnreadable ? record.flatMap { RecordReader($0, service.vault).selection() } : nil
        if isUnreadable {
            logger.error(
                "webhook record not understood; its deliveries are held", metadata: ["webhook": "\(endpoint)"])
        }
        let wasUnreadable = snapshot.withLock { snapshot in
            defer {
                if isUnreadable {
                    snapshot.setUnreadable(endpoint, selection)
                } else {
                    snapshot.apply(endpoint, webhook)
                }
                followActivity(snapshot, of: endpoint.app)
            }
            return snapshot.isUnreadable(endpoint)
        }
        if isUnreadable || wasUnreadable { unsettled.continuation.yield(endpoint) }
    }

    /// Says which channels are to be told of by `channel.activity`. Under the snapshot's lock, so that the newest comes last.
    func followActivity(_ snapshot: RegistrySnapshot, of app: AppID) {
        service.followActivity(snapshot.activityChannels(in: app), in: app)
    }

    /// The app is gone: so is what was owed to its webhooks.
    private func drop(_ app: AppID) {
        let endpoints = snapshot.withLock { snapshot in
            defer { followActivity(snapshot, of: app) }
            return snapshot.drop(app)
        }
        for endpoint in endpoints { unsettled.continuation.yield(endpoint) }
    }

    /// Holds the deliveries of a webhook whose record is there and cannot be read, until it can be.
    func hold(_ endpoint: EndpointID) async throws(ChatError) {
        try await mirror.refresh(Webhook.recordKey(of: endpoint), take)
        try await settleLane(of: endpoint)
    }

    /// Brings lanes in line that whoever changed their webhooks could not, each until it is done: one left open would go on
    /// sending, one left paused would never send. Until cancelled; once.
    func settleUnsettled() async {
        for await endpoint in unsettled.stream {
            while !Task.isCancelled {
                do {
                    if snapshot.withLock({ !$0.isKnown(endpoint) }) { try await closeLane(of: endpoint) }
                    try await setLane(of: endpoint)
                    break
                } catch {
                    logger.warning("lane not set", metadata: ["webhook": "\(endpoint)", "error": "\(error.message)"])
                    // Cancellation shows at the loop's head; the pause carries no other news.
                    try? await Task.sleep(for: options.settlePause)
                }
            }
        }
    }
}
