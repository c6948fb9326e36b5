import ChatKit
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
            try await health.load(app.space)
            var query = RecordQuery(.webhook, in: app.space, limit: 500)
            while true {
                let page = try await directory.list(query)
                for record in page.items { _ = take(record.key, record) }
                guard let cursor = page.cursor else { break }
                query.cursor = cursor
            }
            // All at once: the store commits together what waits together.
            try await withThrowingDiscardingTaskGroup { group in
                for endpoint in snapshot.withLock({ $0.endpoints(in: app.space) }) {
                    group.addTask { try await self.settleLane(of: endpoint) }
                }
            }
        }
        return revision
    }

    /// Applies what changes in the directory, until cancelled or until the engine closes.
    func follow(from revision: Revision) async {
        for await changes in await directory.changes(after: revision) {
            for key in changes.keys where key.kind == .webhook || key.kind == .app { await refresh(key) }
        }
    }

    /// Reads one record again until it can be read: an entry left as it was could go on sending to a deleted webhook.
    private func refresh(_ key: RecordKey) async {
        while !Task.isCancelled {
            do {
                let record = try await directory.read(key)
                if key.kind == .app {
                    if record == nil { await close(SpaceID(key.id)) }
                } else if take(key, record) {
                    try await settleLane(of: EndpointID(key.id, in: key.space))
                }
                return
            } catch {
                logger.warning(
                    "webhook record not readable", metadata: ["record": "\(key.id)", "error": "\(error.message)"])
                // Cancellation shows at the loop's head; the pause carries no other news.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Takes a record in as it is now.
    ///
    /// - Returns: whether it has become unreadable or was: then the lane must be brought in line, which for other changes
    ///   is done by whoever makes them.
    private func take(_ key: RecordKey, _ record: Record?) -> Bool {
        let endpoint = EndpointID(key.id, in: key.space)
        let webhook = record.flatMap { Webhook($0) }
        let isUnreadable = record != nil && webhook == nil
        if isUnreadable { reportUnreadable(endpoint) }
        return snapshot.withLock { snapshot in
            let wasUnreadable = snapshot.isUnreadable(endpoint)
            if isUnreadable { snapshot.setUnreadable(endpoint) } else { snapshot.apply(endpoint, webhook) }
            return isUnreadable || wasUnreadable
        }
    }

    private func reportUnreadable(_ endpoint: EndpointID) {
        logger.error(
            "webhook record not understood; its deliveries are held", metadata: ["webhook": "\(endpoint)"])
    }

    /// Holds the deliveries of a webhook whose record is there and cannot be read, until it can be.
    func hold(_ endpoint: EndpointID) async throws(ChatError) {
        reportUnreadable(endpoint)
        snapshot.withLock { $0.setUnreadable(endpoint) }
        try await settleLane(of: endpoint)
    }

    /// The app is gone: so is what was owed to its webhooks.
    private func close(_ space: SpaceID) async {
        for endpoint in snapshot.withLock({ $0.drop(space) }) {
            health.forget(endpoint)
            await circuits.reset(endpoint)
            do {
                try await queue.set(.closed, of: endpoint, concurrency: 1)
            } catch {
                // The sender closes the lane as well, when it meets a delivery of a webhook that is no more.
                logger.warning("lane not closed", metadata: ["webhook": "\(endpoint)", "error": "\(error.message)"])
            }
        }
    }
}
