public import ChatCore
public import ChatModel
import HTTPClient
public import JSON
import Locking
import Logging
import Signing

/// The webhooks of all apps: their administration, and a snapshot in memory that the planner and the sender read.
///
/// The directory (the store of records) has the authoritative records, and the snapshot follows them. A change through
/// this registry takes effect immediately. A change by another process takes effect within a second. Every method
/// requires the scope `manage`. A webhook of another app is `.notFound`.
public final class WebhookRegistry: Sendable {
    /// The maximum time for which the previous secret also signs after a rotation.
    static let longestOverlap: Duration = .seconds(7 * 24 * 3600)
    /// The maximum number of secrets that sign at the same time. A further rotation ends the oldest secret, because
    /// each secret costs an HMAC per attempt.
    static let mostSecrets = 4

    let service: ChatService
    let options: WebhookOptions
    let health: WebhookHealth
    let logger: Logger
    let plans: PostPlans
    let manualPosts = ManualPostLimit()
    let snapshot = Lock(RegistrySnapshot())
    let mirror: RecordMirror
    /// The subscribers whose lanes ``updatePendingLanes()`` must update.
    let pendingLanes = AsyncStream<SubscriberID>.makeStream()
    let plannerSignal = PlannerSignal()
    /// Reads the record of a subscription and applies it; set by ``Subscriptions``.
    let refreshSubscription = Lock<(@Sendable (RecordKey) async throws(ChatError) -> Void)?>(nil)
    /// The webhooks and subscriptions whose records any node has changed since the planner last looked. At most one
    /// entry for each of them.
    let committed = Lock<Set<RecordKey>>([])
    /// For each app, a position in the event log. The deliveries of all events up to this position are planned.
    let planned = Lock<[AppID: Timetoken]>([:])
    let published = Lock(PublishedKeys())
    let otherStates = OtherStates()

    init(service: ChatService, options: WebhookOptions, health: WebhookHealth, logger: Logger) {
        self.service = service
        self.options = options
        plans = PostPlans(options)
        self.health = health
        self.logger = logger
        mirror = RecordMirror([.app, .webhook, .setting], of: service.engine.directory)
        directory.observe { [weak self] changes in
            let keys = changes.keys.filter { $0.kind == .webhook || $0.kind == .subscription }
            if !keys.isEmpty { self?.committed.withLock { $0.formUnion(keys) } }
            if changes.keys.contains(where: Self.isSigningKey) { self?.published.withLock { $0.until = .zero } }
        }
        answerCalls()
    }

    var directory: any Directory { service.engine.directory }
    var queue: any DeliveryQueue { service.engine.deliveries }

    /// Creates a webhook. It is enabled, unless its receiver must consent first (``ReceiverVerification``). The webhook
    /// matches every event that is committed after this call has returned. It may also match events that are committed
    /// during the call.
    ///
    /// The caller's channel and type patterns must cover the webhook's patterns, because a caller may select only
    /// events that it may read.
    ///
    /// - Throws: `.malformed` with the slug `url_refused` for a URL that the address guard rejects; `.forbidden` when
    ///   the webhook matches events that the caller may not read; `.invalid` above `Limits.webhooksPerApp`.
    public func create(_ settings: WebhookSettings, by caller: Caller) async throws(ChatError) -> IssuedWebhook {
        try caller.require(.manage)
        try check(settings, by: caller)
        let most = service.limits.webhooksPerApp
        guard snapshot.withLock({ $0.count(in: caller.app) }) < most else {
            throw ChatError(
                .invalid, "an app may have at most \(most) webhooks; delete one first", slug: "too_many_webhooks")
        }
        let key = StandardSigningKey.generate(from: options.random)
        let now = service.clock.now
        var webhook = Webhook(
            id: options.random.identifier(prefix: "wh_"), app: caller.app, settings: settings,
            secrets: [WebhookSecret(key: key)], since: try await service.engine.log.watermark(of: caller.app),
            created: now, updated: now)
        try await complete(&webhook, from: nil)
        // The lane is set before the record is written. A lane without a webhook is harmless, but a webhook without a
        // lane would send nothing until the next start.
        try await queue.set(lane(of: webhook), of: webhook.subscriber)
        let stored = try await write(webhook, precondition: .absent)
        return IssuedWebhook(webhook: stored, secret: key.text)
    }

    /// Returns a webhook.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.forbidden` when the webhook matches events that the
    ///   caller may not read.
    public func webhook(_ id: String, by caller: Caller) async throws(ChatError) -> Webhook {
        await withHealth([try await permitted(id, by: caller)])[0]
    }

    /// Returns a webhook without its state, as ``webhook(_:by:)`` does.
    func permitted(_ id: String, by caller: Caller) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        let webhook = try await current(SubscriberID(id, in: caller.app))
        try requireReach(of: webhook.settings, by: caller)
        return webhook
    }

    /// Returns the webhooks of the app that the caller may read. They are in the order of their ids, unless the list
    /// requests another order. An unreadable webhook is listed with its readable part, if the caller may read
    /// everything. A page may have fewer webhooks than its limit although there is a next page.
    ///
    /// - Parameter statuses: the statuses of the webhooks to list; empty for all.
    /// - Throws: `.malformed` for an invalid cursor.
    public func list(
        _ list: RecordList, statuses: Set<Webhook.Status> = [], by caller: Caller
    ) async throws(ChatError) -> Page<Webhook> {
        try caller.require(.manage)
        let isEverywhere = caller.channels.contains(.all) && caller.types.contains(.all)
        var isAsked: (@Sendable (Webhook) -> Bool)?
        if !statuses.isEmpty { isAsked = { (webhook: Webhook) -> Bool in statuses.contains(webhook.status) } }
        var page = try await list.page(
            of: RecordQuery(.webhook, in: caller.app, limit: list.limit), in: directory, limits: service.limits,
            created: { $0.created }, keeping: isAsked
        ) { [self] records in
            records.map { (record) -> Webhook? in
                guard let webhook = shown(record) else {
                    return isEverywhere ? Webhook.unreadable(record, service.vault) : nil
                }
                return reaches(webhook.settings, by: caller) ? webhook : nil
            }
        }
        page.items = await withHealth(page.items)
        return page
    }

    /// Returns the webhook in a record, for a list: from memory, or parsed without compiling its filter. Nil when the
    /// record cannot be read.
    private func shown(_ record: Record) -> Webhook? {
        let subscriber = SubscriberID(record.key.id, in: record.key.app)
        let (known, isUnreadable) = snapshot.withLock { ($0[subscriber], $0.isUnreadable(subscriber)) }
        guard !isUnreadable else { return nil }
        if let known, known.etag == record.etag { return known }
        return Webhook(record, service.vault, compilesFilter: false)
    }

    /// Changes some settings by a merge patch (RFC 7396).
    ///
    /// - Parameter etag: the required version (`If-Match`); nil accepts any version.
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` when it does not have the version `etag`; the
    ///   errors of `create`.
    public func patch(
        _ id: String, with patch: JSONDocument, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        return try await change(id, ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            webhook.settings = try webhook.settings.merging(patch, limits: self.service.limits)
            try self.check(webhook.settings, by: caller)
        }
    }

    /// Deletes a webhook. Its waiting deliveries become dead.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` when it does not have the version `etag`.
    public func delete(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        try caller.require(.manage)
        let subscriber = SubscriberID(id, in: caller.app)
        try await requireReach(of: subscriber, by: caller)
        do {
            let removal = RecordChange(
                Webhook.recordKey(of: subscriber), body: nil, precondition: etag.map { .etag($0) } ?? .present)
            _ = try await mirror.write(
                [removal, RecordChange(WebhookHealth.recordKey(of: subscriber), body: nil)], apply)
        } catch {
            throw error.code == .notFound ? Self.unknown : error
        }
        try await close(subscriber)
    }

    /// The treatment of waiting deliveries when a webhook is enabled.
    public enum HeldDeliveryPolicy: Sendable { case deliver, discard }

    /// Enables a webhook. If its receiver must consent, the webhook is enabled after the consent. The deliveries that
    /// waited while the webhook was disabled are sent or become dead. The record of an enabled webhook is not changed.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` when it does not have the version `etag`;
    ///   `.conflict` when waiting deliveries are to become dead although the receiver has not consented.
    public func enable(
        _ id: String, held: HeldDeliveryPolicy = .deliver, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        let present = try await webhook(id, by: caller)
        if let etag { try RecordChange.Precondition.etag(etag).check(present.etag) }
        if held == .discard, present.status != .enabled {
            try requireReach(of: present.settings, by: caller)
            guard hasConsent(present) else {
                throw ChatError(
                    .conflict,
                    "the receiver has not consented yet, so no held delivery was marked as dead; verify the webhook first"
                )
            }
            let now = try await service.engine.log.watermark(of: caller.app)
            try await waitUntilPlanned(caller.app, through: now)
            // The deliveries become dead before the webhook is enabled, so that none of them is sent.
            try await queue.skip(present.subscriber, through: now)
        }
        let enabled = try await change(id, ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            webhook.status = .enabled
            webhook.statusReason = nil
        }
        // A user who enables a webhook may know that its receiver works again, so the circuit is closed. This also
        // applies to a webhook that was already enabled.
        await resetCircuit(of: enabled.subscriber)
        return await withHealth([enabled])[0]
    }

    /// Disables a webhook, so that its deliveries wait. A disabled webhook is not changed.
    ///
    /// - Parameter reason: the reason that is shown with the webhook and in the event `webhook.disabled`.
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` when it does not have the version `etag`.
    public func disable(
        _ id: String, reason: String = "disabled by an administrator", ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        return try await change(id, ifMatch: etag, by: caller) { $0.disable(reason) }
    }

    /// Replaces the secret of a webhook. The previous secret also signs for the duration `overlap`, so that receivers
    /// can switch.
    ///
    /// - Parameters:
    ///   - secret: the new secret, `whsec_…`; nil to create one. Passing the secret of another gateway lets its
    ///     receivers continue without a change.
    ///   - overlap: zero to ``longestOverlap``.
    /// - Throws: `.malformed` for an invalid overlap or an unusable secret; `.notFound` when the app has no such
    ///   webhook; `.stale` when it does not have the version `etag`.
    public func rotateSecret(
        of id: String, to secret: String? = nil, overlap: Duration = .seconds(24 * 3600),
        ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> IssuedWebhook {
        try caller.require(.manage)
        guard overlap >= .zero, overlap <= Self.longestOverlap else {
            throw ChatError(.malformed, "'overlap_seconds' must be 0 to 604800, which is 168 hours")
        }
        let key = try secret.map(Self.key) ?? .generate(from: options.random)
        let now = service.clock.now
        let webhook = try await change(id, ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            let end = now.adding(overlap)
            var earlier = webhook.secrets.filter { $0.isActive(at: now) }
            for index in earlier.indices { earlier[index].until = min(earlier[index].until ?? end, end) }
            earlier.removeAll { !$0.isActive(at: now) }
            webhook.secrets = [WebhookSecret(key: key)] + earlier.prefix(Self.mostSecrets - 1)
        }
        return IssuedWebhook(webhook: webhook, secret: key.text)
    }

    /// Parses a secret that a caller passes.
    ///
    /// - Parameter text: a shared secret of 24 to 64 bytes (Standard Webhooks, "Signature scheme").
    private static func key(_ text: String) throws(ChatError) -> StandardSigningKey {
        if let key = try? StandardSigningKey(text), case .symmetric(let secret) = key, secret.bytes.count <= 64 {
            return key
        }
        throw ChatError(
            .malformed, "#/secret: must be 'whsec_' followed by the base64 of 24 to 64 bytes", slug: "bad_member")
    }

    /// Explains for every webhook of the event's app why it matches the event or not, in the order of the ids. The
    /// filter of each webhook is evaluated. Filters that the caller may not read are not shown.
    public func explain(_ event: Event, to caller: Caller) -> [WebhookMatch] {
        guard let matcher = snapshot.withLock({ $0.matcher(for: event.channel.app) }) else { return [] }
        return matcher.explain(event) { reaches($0, by: caller) }
    }

    static let unknown = ChatError(.notFound, "no webhook has this id")
    static let unreadable = ChatError(
        .conflict,
        "the webhook's stored record cannot be read by this version of the gateway; the webhook's deliveries are held")
}

/// The result of matching a webhook with an event.
public struct WebhookMatch: Sendable {
    /// The id of the webhook.
    public var webhook: String
    /// True when the webhook matches the event.
    public var matches: Bool
    /// One sentence with the patterns that matched, or the first condition that was not met.
    public var why: String
}
