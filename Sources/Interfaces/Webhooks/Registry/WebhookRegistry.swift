public import ChatCore
public import ChatModel
import HTTPClient
public import JSON
import Locking
import Logging
import Signing

/// The webhooks of all apps: their administration, and what the planner and the sender read of them without waiting.
///
/// The directory is the truth; this follows it. A change made on this node counts at once, on another within a second.
/// Every verb demands the scope `manage`; webhooks of other apps are `.notFound`.
public final class WebhookRegistry: Sendable {
    /// How long both secrets may sign after a rotation.
    static let longestOverlap: Duration = .seconds(7 * 24 * 3600)
    /// Secrets that sign at once. A rotation beyond it ends the oldest: each costs an HMAC per attempt.
    static let mostSecrets = 4

    let service: ChatService
    let options: WebhookOptions
    let health: WebhookHealth
    let circuits: CircuitBreakers
    let figures = WebhookCounters()
    let logger: Logger
    let plans: PostPlans
    let trials = ManualPostLimit()
    let snapshot = Lock(RegistrySnapshot())
    let mirror: RecordMirror
    /// Endpoints whose lanes are to be brought in line by ``settleUnsettled()``.
    let unsettled = AsyncStream<SubscriberID>.makeStream()
    let plannerWake = PlannerSignal()
    /// How far the planner has come at least, by app.
    let planned = Lock<[AppID: Timetoken]>([:])
    let published = Lock(PublishedKeys())

    init(service: ChatService, options: WebhookOptions, health: WebhookHealth, logger: Logger) {
        self.service = service
        self.options = options
        plans = PostPlans(options)
        self.health = health
        self.logger = logger
        circuits = CircuitBreakers(queue: service.engine.deliveries)
        mirror = RecordMirror([.app, .webhook], of: service.engine.directory)
    }

    var directory: any Directory { service.engine.directory }
    var queue: any DeliveryQueue { service.engine.deliveries }

    /// Makes a webhook, enabled unless its receiver must consent first (``ReceiverVerification``). It is told of every event committed after this call returned, and may be of earlier ones committed
    /// after it began.
    ///
    /// A caller may be told only of what it may read itself: its channel and type patterns must cover the webhook's.
    /// - Throws: `.malformed` with the slug `url_refused` for a URL the address guard refuses; `.forbidden`; `.invalid`
    ///   past `Limits.webhooksPerApp`.
    public func create(_ settings: WebhookSettings, by caller: Caller) async throws(ChatError) -> IssuedWebhook {
        try caller.demand(.manage)
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
        // The lane first: one without a webhook harms nobody, a webhook without its lane would wait for the next start.
        try await queue.set(lane(of: webhook), of: webhook.subscriber)
        let stored = try await write(webhook, demand: .absent)
        return IssuedWebhook(webhook: stored, secret: key.text)
    }

    /// - Throws: `.notFound`; `.forbidden` for one that is told of more than the caller reaches.
    public func webhook(_ id: String, by caller: Caller) async throws(ChatError) -> Webhook {
        try caller.demand(.manage)
        let webhook = try await current(SubscriberID(id, in: caller.app))
        try demandReach(of: webhook.settings, by: caller)
        return webhook
    }

    /// The app's webhooks that the caller reaches, in the order of their ids unless asked otherwise; of one that cannot be read as
    /// much as can be, for who reaches everything. A page may hold fewer than its limit and still have a next one.
    ///
    /// - Parameter statuses: those of the webhooks to list; empty for all.
    /// - Throws: `.malformed` for a cursor that is none of ours.
    public func list(
        _ list: RecordList, statuses: Set<Webhook.Status> = [], by caller: Caller
    ) async throws(ChatError) -> Page<Webhook> {
        try caller.demand(.manage)
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

    /// A webhook for showing: as it is in memory, or read from its record without compiling its filter. Nil for one that
    /// cannot be read.
    private func shown(_ record: Record) -> Webhook? {
        let subscriber = SubscriberID(record.key.id, in: record.key.app)
        let (known, isUnreadable) = snapshot.withLock { ($0[subscriber], $0.isUnreadable(subscriber)) }
        guard !isUnreadable else { return nil }
        if let known, known.etag == record.etag { return known }
        return Webhook(record, service.vault, compilesFilter: false)
    }

    /// Changes some settings by a merge patch (RFC 7396).
    /// - Parameter etag: the demanded version (`If-Match`); nil takes any.
    /// - Throws: `.stale`, `.notFound`, and what `create` throws.
    public func patch(
        _ id: String, with patch: JSONDocument, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.demand(.manage)
        return try await change(id, ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            webhook.settings = try webhook.settings.merging(patch, limits: self.service.limits)
            try self.check(webhook.settings, by: caller)
        }
    }

    /// Removes a webhook; what was still owed to it turns dead.
    /// - Throws: `.stale`, `.notFound`.
    public func delete(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        try caller.demand(.manage)
        let subscriber = SubscriberID(id, in: caller.app)
        try await demandReach(of: subscriber, by: caller)
        do {
            let removal = RecordChange(
                Webhook.recordKey(of: subscriber), body: nil, demand: etag.map { .etag($0) } ?? .present)
            _ = try await mirror.write(
                [removal, RecordChange(WebhookHealth.recordKey(of: subscriber), body: nil)], take)
        } catch {
            throw error.code == .notFound ? Self.unknown : error
        }
        try await close(subscriber)
    }

    /// What becomes of held deliveries when a webhook is enabled.
    public enum HeldDeliveryPolicy: Sendable { case deliver, giveUp }

    /// Lets held deliveries go out, or gives them up, once the receiver has consented where that is demanded. Nothing happens
    /// when the webhook is enabled already.
    /// - Throws: `.notFound`; `.stale`; `.conflict` when they are to be given up before the receiver has consented.
    public func enable(
        _ id: String, held: HeldDeliveryPolicy = .deliver, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.demand(.manage)
        let present = try await webhook(id, by: caller)
        if let etag { try RecordChange.Precondition.etag(etag).check(present.etag) }
        if held == .giveUp, present.status != .enabled {
            try demandReach(of: present.settings, by: caller)
            guard hasConsent(present) else {
                throw ChatError(.conflict, "the receiver has not consented yet, and nothing has been given up")
            }
            let now = try await service.engine.log.watermark(of: caller.app)
            try await waitUntilPlanned(caller.app, through: now)
            // Before it is enabled: none of them may slip out.
            try await queue.skip(present.subscriber, through: now)
        }
        let enabled = try await change(id, ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            webhook.status = .enabled
            webhook.statusReason = nil
        }
        // Asked by a person, who knows more than the last failures: also where it was enabled all along.
        await circuits.reset(enabled.subscriber)
        return withHealth(enabled)
    }

    /// Holds deliveries back. Nothing happens when it is disabled already.
    /// - Parameter reason: shown with the webhook and in `webhook.disabled`.
    /// - Throws: `.notFound`, `.stale`.
    public func disable(
        _ id: String, reason: String = "disabled by hand", ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook {
        try caller.demand(.manage)
        return try await change(id, ifMatch: etag, by: caller) { $0.disable(reason) }
    }

    /// Changes to another secret; the present one signs beside it for `overlap`, so that receivers can change over.
    /// - Parameters:
    ///   - secret: `whsec_…`, that of another gateway whose receivers are to stay as they are; nil: a new one.
    ///   - overlap: zero to ``longestOverlap``.
    /// - Throws: `.malformed` for another overlap and a secret that cannot be used, `.notFound`, `.stale`.
    public func rotateSecret(
        of id: String, to secret: String? = nil, overlap: Duration = .seconds(24 * 3600),
        ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> IssuedWebhook {
        try caller.demand(.manage)
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

    /// Who would be told of an event, and why or why not: every webhook of the event's app, in the order of their ids.
    /// For dry runs and explanations; costs a filter evaluation for each webhook. Filters beyond the caller's reach are not told.
    public func explain(_ event: Event, to caller: Caller) -> [WebhookMatch] {
        guard let matcher = snapshot.withLock({ $0.matcher(for: event.channel.app) }) else { return [] }
        return matcher.explain(event) { reaches($0, by: caller) }
    }

    static let unknown = ChatError(.notFound, "no such webhook")
    static let unreadable = ChatError(
        .conflict, "the webhook's stored record cannot be read by this version; its deliveries are held")
}

/// Whether a webhook is told of an event.
public struct WebhookMatch: Sendable {
    public var webhook: String
    public var matches: Bool
    /// One sentence: the patterns that matched, or the first condition that did not hold.
    public var why: String
}
