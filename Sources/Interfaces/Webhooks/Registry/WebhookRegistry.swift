public import ChatCore
public import ChatModel
import HTTPClient
public import JSON
import Locking
import Logging
import Signing

/// The webhooks of all apps: their administration, and the snapshot that the planner and the sender read without
/// waiting.
///
/// The directory is the authority, and the snapshot follows it. A change made on this node takes effect at once, on
/// another node within a second. Every method requires the scope `manage`; webhooks of other apps are `.notFound`.
public final class WebhookRegistry: Sendable {
    /// The longest time for which both secrets may sign after a rotation.
    static let longestOverlap: Duration = .seconds(7 * 24 * 3600)
    /// The maximum number of secrets that sign at once. A further rotation ends the oldest, because each costs an HMAC
    /// per attempt.
    static let mostSecrets = 4

    let service: ChatService
    let options: WebhookOptions
    let health: WebhookHealth
    let logger: Logger
    let plans: PostPlans
    let manualPosts = ManualPostLimit()
    let snapshot = Lock(RegistrySnapshot())
    let mirror: RecordMirror
    /// Subscribers whose lanes ``updatePendingLanes()`` has to update.
    let pendingLanes = AsyncStream<SubscriberID>.makeStream()
    let plannerWake = PlannerSignal()
    /// A position that the planner has reached at least, by app.
    let planned = Lock<[AppID: Timetoken]>([:])
    let published = Lock(PublishedKeys())

    init(service: ChatService, options: WebhookOptions, health: WebhookHealth, logger: Logger) {
        self.service = service
        self.options = options
        plans = PostPlans(options)
        self.health = health
        self.logger = logger
        mirror = RecordMirror([.app, .webhook], of: service.engine.directory)
    }

    var directory: any Directory { service.engine.directory }
    var queue: any DeliveryQueue { service.engine.deliveries }

    /// Creates a webhook, enabled unless its receiver must consent first (``ReceiverVerification``). It matches every
    /// event committed after this call returned, and possibly earlier ones committed after it began.
    ///
    /// A caller may select only events that it may read itself: its channel and type patterns must cover the webhook's.
    ///
    /// - Throws: `.malformed` with the slug `url_refused` for a URL that the address guard rejects; `.forbidden` when
    ///   it matches more than the caller may read; `.invalid` past `Limits.webhooksPerApp`.
    public func create(_ settings: WebhookSettings, by caller: Caller) async throws(ChatError) -> IssuedWebhook {
        try caller.require(.manage)
        try check(settings, by: caller)
        let most = service.limits.webhooksPerApp
        guard snapshot.withLock({ $0.count(in: caller.app) }) < most else {
            throw ChatError(.invalid, "an app may have at most \(most) webhooks", slug: "too_many_webhooks")
        }
        let key = StandardSigningKey.generate(from: options.random)
        let now = service.clock.now
        var webhook = Webhook(
            id: options.random.identifier(prefix: "wh_"), app: caller.app, settings: settings,
            secrets: [WebhookSecret(key: key)], since: try await service.engine.log.watermark(of: caller.app),
            created: now, updated: now)
        try await complete(&webhook, from: nil)
        // The lane is set first: a lane without a webhook is harmless, but a webhook without its lane would wait for
        // the next start.
        try await queue.set(lane(of: webhook), of: webhook.subscriber)
        let stored = try await write(webhook, precondition: .absent)
        return IssuedWebhook(webhook: stored, secret: key.text)
    }

    /// One webhook.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.forbidden` when it matches more than the caller may
    ///   read.
    public func webhook(_ id: String, by caller: Caller) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        let webhook = try await current(SubscriberID(id, in: caller.app))
        try requireReach(of: webhook.settings, by: caller)
        return webhook
    }

    /// The webhooks of the app that the caller may read, in the order of their ids unless the list asks for another
    /// order. Of a webhook that cannot be read, a caller that may read everything gets the readable part. A page may
    /// have fewer webhooks than its limit although a next page follows.
    ///
    /// - Parameter statuses: lists webhooks with one of these statuses; empty for all.
    /// - Throws: `.malformed` for an invalid cursor.
    public func list(
        _ list: RecordList, statuses: Set<Webhook.Status> = [], by caller: Caller
    ) async throws(ChatError) -> Page<Webhook> {
        try caller.require(.manage)
        let isEverywhere = caller.channels.contains(.all) && caller.types.contains(.all)
        var isAsked: (@Sendable (Webhook) -> Bool)?
        if !statuses.isEmpty { isAsked = { (webhook: Webhook) -> Bool in statuses.contains(webhook.status) } }
        return try await list.page(
            of: RecordQuery(.webhook, in: caller.app, limit: list.limit), in: directory, limits: service.limits,
            created: { $0.created }, keeping: isAsked
        ) { [self] records in
            records.map { (record) -> Webhook? in
                guard let webhook = shown(record) else {
                    return isEverywhere ? withHealth(Webhook.unreadable(record, service.vault)) : nil
                }
                return reaches(webhook.settings, by: caller) ? withHealth(webhook) : nil
            }
        }
    }

    /// A webhook for display: from memory, or read from its record without compiling its filter. Nil when it cannot be
    /// read.
    private func shown(_ record: Record) -> Webhook? {
        let subscriber = SubscriberID(record.key.id, in: record.key.app)
        let (known, isUnreadable) = snapshot.withLock { ($0[subscriber], $0.isUnreadable(subscriber)) }
        guard !isUnreadable else { return nil }
        if let known, known.etag == record.etag { return known }
        return Webhook(record, service.vault, compilesFilter: false)
    }

    /// Changes some settings by a merge patch (RFC 7396).
    ///
    /// - Parameter etag: the required version (`If-Match`); nil accepts any.
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` for another version than `etag`; what `create`
    ///   throws.
    public func patch(
        _ id: String, with patch: JSONDocument, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        return try await change(id, ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            webhook.settings = try webhook.settings.merging(patch, limits: self.service.limits)
            try self.check(webhook.settings, by: caller)
        }
    }

    /// Deletes a webhook; its waiting deliveries become dead.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` for another version than `etag`.
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

    /// The handling of held deliveries when a webhook is enabled.
    public enum HeldDeliveryPolicy: Sendable { case deliver, discard }

    /// Enables a webhook once its receiver has consented, when that is required. Held deliveries are sent or given up.
    /// Does nothing when the webhook is already enabled.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` for another version than `etag`; `.conflict`
    ///   when held deliveries are to be given up before the receiver has consented.
    public func enable(
        _ id: String, held: HeldDeliveryPolicy = .deliver, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        let present = try await webhook(id, by: caller)
        if let etag { try RecordChange.Precondition.etag(etag).check(present.etag) }
        if held == .discard, present.status != .enabled {
            try requireReach(of: present.settings, by: caller)
            guard hasConsent(present) else {
                throw ChatError(.conflict, "the receiver has not consented yet, and nothing has been given up")
            }
            let now = try await service.engine.log.watermark(of: caller.app)
            try await waitUntilPlanned(caller.app, through: now)
            // Before the webhook is enabled, so that none of them is sent.
            try await queue.skip(present.subscriber, through: now)
        }
        let enabled = try await change(id, ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            webhook.status = .enabled
            webhook.statusReason = nil
        }
        // The request comes from a person, who may know more than the last failures show. So this also applies to a
        // webhook that was enabled already.
        await resetCircuit(of: enabled.subscriber)
        return withHealth(enabled)
    }

    /// Disables a webhook, so that its deliveries are held. Does nothing when it is already disabled.
    ///
    /// - Parameter reason: shown with the webhook and in `webhook.disabled`.
    /// - Throws: `.notFound` when the app has no such webhook; `.stale` for another version than `etag`.
    public func disable(
        _ id: String, reason: String = "disabled by hand", ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.require(.manage)
        return try await change(id, ifMatch: etag, by: caller) { $0.disable(reason) }
    }

    /// Replaces the secret. The present secret also signs for `overlap`, so that receivers can switch.
    ///
    /// - Parameters:
    ///   - secret: `whsec_…`, to take over the secret of another gateway whose receivers stay unchanged; nil creates a
    ///     new one.
    ///   - overlap: zero to ``longestOverlap``.
    /// - Throws: `.malformed` for another overlap and for a secret that cannot be used; `.notFound` when the app has no
    ///   such webhook; `.stale` for another version than `etag`.
    public func rotateSecret(
        of id: String, to secret: String? = nil, overlap: Duration = .seconds(24 * 3600),
        ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> IssuedWebhook {
        try caller.require(.manage)
        guard overlap >= .zero, overlap <= Self.longestOverlap else {
            throw ChatError(.malformed, "the overlap must be between 0 and 168 hours")
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

    /// - Parameter text: a shared secret of 24 to 64 bytes. Source: Standard Webhooks, "Signature scheme".
    private static func key(_ text: String) throws(ChatError) -> StandardSigningKey {
        if let key = try? StandardSigningKey(text), case .symmetric(let secret) = key, secret.bytes.count <= 64 {
            return key
        }
        throw ChatError(
            .malformed, "#/secret: expected whsec_ and the base64 of 24 to 64 bytes", slug: "bad_member")
    }

    /// Explains for every webhook of the event's app, in the order of their ids, why it matches the event or not. For
    /// dry runs and explanations; costs a filter evaluation for each webhook. Filters that the caller may not read are
    /// not shown.
    public func explain(_ event: Event, to caller: Caller) -> [WebhookMatch] {
        guard let matcher = snapshot.withLock({ $0.matcher(for: event.channel.app) }) else { return [] }
        return matcher.explain(event) { reaches($0, by: caller) }
    }

    static let unknown = ChatError(.notFound, "no such webhook")
    static let unreadable = ChatError(
        .conflict, "the webhook's stored record cannot be read by this version; its deliveries are held")
}

/// The result of matching a webhook with an event.
public struct WebhookMatch: Sendable {
    /// The id of the webhook.
    public var webhook: String
    /// True when the webhook matches the event.
    public var matches: Bool
    /// One sentence: the patterns that matched, or the first condition that did not hold.
    public var why: String
}
