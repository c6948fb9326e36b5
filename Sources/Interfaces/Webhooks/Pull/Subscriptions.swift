public import ChatCore
public import ChatModel
import Locking
import Logging
import Signing
import Synchronization

/// The subscriptions of all apps: their administration, and pulling (`Subscriptions+Pulling.swift`).
///
/// The directory (the store of records) has the authoritative records. The registry's snapshot follows them, so that
/// the planner finds webhooks and subscriptions in one place. Administration requires the scope `manage`, and pulling
/// requires the scope `read`. Both require a caller who may read everything that the subscription matches.
public final class Subscriptions: Sendable {
    let registry: WebhookRegistry
    private let mirror: RecordMirror
    private let logger: Logger
    private let isStopping = Atomic(false)
    /// The subscriptions that were deleted and whose records are not removed yet.
    private let deleted = Lock<Set<SubscriberID>>([])

    init(registry: WebhookRegistry, logger: Logger) {
        self.registry = registry
        self.logger = logger
        mirror = RecordMirror([.subscription], of: registry.service.engine.directory)
        registry.refreshSubscription.withLock {
            $0 = { [weak self] (key) async throws(ChatError) in try await self?.refresh(key) }
        }
    }

    /// Reads the record of a subscription, and updates the snapshot in memory.
    func refresh(_ key: RecordKey) async throws(ChatError) { try await mirror.refresh(key, apply) }

    var queue: any DeliveryQueue { registry.queue }
    private var directory: any Directory { registry.directory }

    /// Creates a subscription. It receives the events that are committed after this call has returned.
    ///
    /// - Throws: `.forbidden` for events that the caller may not read; `.invalid` above `Limits.webhooksPerApp`, which
    ///   limits webhooks and subscriptions together.
    public func create(_ settings: SubscriptionSettings, by caller: Caller) async throws(ChatError) -> Subscription {
        try caller.require(.manage)
        try registry.requireReach(of: settings.selection, by: caller)
        let most = registry.service.limits.webhooksPerApp
        guard registry.snapshot.withLock({ $0.count(in: caller.app) }) < most else {
            throw ChatError(
                .invalid, "an app may have at most \(most) webhooks and subscriptions together; delete one first",
                slug: "too_many_webhooks")
        }
        let now = registry.service.clock.now
        let subscription = Subscription(
            id: registry.options.random.identifier(prefix: "sub_"), app: caller.app, settings: settings,
            since: try await registry.service.engine.log.watermark(of: caller.app), created: now, updated: now)
        // The lane is set before the record is written. The sender would take deliveries from a lane not marked as
        // pulled.
        try await queue.set(subscription.lane, of: subscription.subscriber)
        return try await withBacklog(write(subscription, precondition: .absent))
    }

    /// Returns a subscription.
    ///
    /// - Throws: `.notFound` when the app has no such subscription.
    public func subscription(_ id: String, by caller: Caller) async throws(ChatError) -> Subscription {
        try caller.require(.manage)
        return try await withBacklog(current(id, caller))
    }

    private func withBacklog(_ subscription: Subscription) async throws(ChatError) -> Subscription {
        try await withBacklogs([subscription])[0]
    }

    /// Adds the backlogs to the subscriptions. All backlogs are counted in one read.
    private func withBacklogs(_ subscriptions: [Subscription]) async throws(ChatError) -> [Subscription] {
        let queries = subscriptions.map { subscription in
            var query = DeliveryQuery(app: subscription.app, limit: 1)
            query.subscriber = subscription.id
            query.statuses = [.pending, .failed]
            return query
        }
        let counts = try await queue.counts(queries, most: Subscription.mostBacklog)
        return zip(subscriptions, counts).map { subscription, count in
            var subscription = subscription
            subscription.backlog = count
            return subscription
        }
    }

    /// The app's subscriptions in the order of their ids, unless the list requests another order.
    ///
    /// - Throws: `.malformed` for an invalid cursor.
    public func list(_ list: RecordList, by caller: Caller) async throws(ChatError) -> Page<Subscription> {
        try caller.require(.manage)
        var page = try await list.page(
            of: RecordQuery(.subscription, in: caller.app, limit: list.limit), in: directory,
            limits: registry.service.limits, created: \.created
        ) { records in
            records.map { record in
                Subscription(record, compilesFilter: false).flatMap { $0.isDeleted ? nil : $0 }
            }
        }
        page.items = try await withBacklogs(page.items)
        return page
    }

    /// Changes settings. A new ordering also applies to the waiting deliveries.
    ///
    /// - Parameter etag: the required version (`If-Match`); nil accepts any version.
    /// - Throws: `.notFound` when the app has no such subscription; `.stale` when it does not have the version `etag`;
    ///   the errors of `create`.
    public func change(
        _ id: String, ifMatch etag: String?, by caller: Caller,
        _ alter: (inout SubscriptionSettings) throws(ChatError) -> Void
    ) async throws(ChatError) -> Subscription {
        try caller.require(.manage)
        for _ in 0..<8 {
            var subscription = try await current(id, caller)
            if let etag, etag != subscription.etag {
                throw ChatError(
                    .stale, "the subscription has changed since it was read; read it again, and repeat the change")
            }
            try registry.requireReach(of: subscription.settings.selection, by: caller)
            try alter(&subscription.settings)
            try registry.requireReach(of: subscription.settings.selection, by: caller)
            do {
                let stored = try await write(subscription, precondition: .etag(subscription.etag))
                try await registry.updateLane(of: stored.subscriber)
                return try await withBacklog(stored)
            } catch {
                if error.code != .stale || etag != nil { throw error.code == .notFound ? Self.unknown : error }
            }
        }
        throw ChatError(
            .conflict, "the subscription is being changed by another request; try again", retryAfter: .seconds(1))
    }

    /// Deletes a subscription. Its waiting deliveries become dead.
    ///
    /// - Throws: `.notFound` when the app has no such subscription; `.stale` when it does not have the version `etag`.
    public func delete(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        try caller.require(.manage)
        var subscription = try await current(id, caller)
        try registry.requireReach(of: subscription.settings.selection, by: caller)
        subscription.isDeleted = true
        do {
            _ = try await write(subscription, precondition: etag.map { .etag($0) } ?? .present)
        } catch {
            throw error.code == .notFound ? Self.unknown : error
        }
        try await finishDeletion(of: subscription.subscriber)
    }

    /// Makes the waiting deliveries of a deleted subscription dead, and then removes the subscription's record. An
    /// interrupted deletion is completed by `follow` or by the next start of the gateway.
    private func finishDeletion(of subscriber: SubscriberID) async throws(ChatError) {
        try await queue.set(.closed, of: subscriber, concurrency: 1)
        _ = try await directory.write([RecordChange(Subscription.recordKey(of: subscriber), body: nil)])
        _ = deleted.withLock { $0.remove(subscriber) }
    }

    private func finishDeletions() async {
        for subscriber in deleted.withLock(\.self) {
            while !Task.isCancelled {
                do {
                    try await finishDeletion(of: subscriber)
                    break
                } catch {
                    logger.warning(
                        "cannot mark the deliveries of a deleted subscription as dead; trying again",
                        metadata: ["subscription": "\(subscriber)", "error": "\(error.message)"])
                    // The loop's condition checks for cancellation.
                    try? await Task.sleep(for: registry.options.laneRetryPause)
                }
            }
        }
    }

    // MARK: Following the directory

    /// Reads all subscriptions and sets the lane (the queue) of each subscription. Returns the revision of the store of
    /// records from which `follow` continues.
    func load() async throws -> Revision {
        let revision = try await directory.revision()
        for app in registry.service.keyring.apps {
            try await mirror.load(.subscription, in: app.id, apply)
            for subscriber in registry.snapshot.withLock({ $0.subscriptions(in: app.id) }) {
                try await registry.updateLane(of: subscriber)
            }
        }
        for subscriber in deleted.withLock(\.self) { try await finishDeletion(of: subscriber) }
        return revision
    }

    /// Updates the snapshot in memory with each change of a subscription's record, until the task is cancelled or the
    /// engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(from: revision, apply) { key, error in
            logger.warning(
                "cannot read a changed subscription; trying again",
                metadata: ["record": "\(key.id)", "error": "\(error.message)"])
        } afterwards: { _ in
            await finishDeletions()
        }
    }

    /// Ends all waits for deliveries. Called when the gateway stops.
    func stop() { isStopping.store(true, ordering: .releasing) }
    var isStopped: Bool { isStopping.load(ordering: .acquiring) }

    private func apply(_ key: RecordKey, _ record: Record?) {
        let subscriber = SubscriberID(key.id, in: key.app)
        let subscription = record.flatMap { Subscription($0) }
        if record != nil, subscription == nil {
            // The snapshot keeps the earlier state of the subscription, so its events are still planned.
            logger.error(
                "cannot parse the subscription's record; its earlier settings apply",
                metadata: ["subscription": "\(subscriber)"])
            return
        }
        let isDeleted = subscription?.isDeleted ?? false
        if isDeleted { _ = deleted.withLock { $0.insert(subscriber) } }
        registry.snapshot.withLock { snapshot in
            snapshot.apply(subscriber, subscription: isDeleted ? nil : subscription)
            registry.followActivity(snapshot, by: subscriber)
        }
    }

    private func write(
        _ subscription: Subscription, precondition: RecordChange.Precondition
    ) async throws(ChatError) -> Subscription {
        let key = Subscription.recordKey(of: subscription.subscriber)
        let record = try await mirror.write(
            [RecordChange(key, body: subscription.body, precondition: precondition)], apply)[0]
        var stored = subscription
        stored.etag = record.etag
        stored.updated = record.updated
        return stored
    }

    private func current(_ id: String, _ caller: Caller) async throws(ChatError) -> Subscription {
        let key = Subscription.recordKey(of: SubscriberID(id, in: caller.app))
        guard let record = try await directory.read(key) else { throw Self.unknown }
        guard let subscription = Subscription(record) else {
            throw ChatError(.conflict, "the subscription's stored record cannot be read by this version of the gateway")
        }
        if subscription.isDeleted { throw Self.unknown }
        return subscription
    }

    static let unknown = ChatError(.notFound, "no subscription has this id")
}
