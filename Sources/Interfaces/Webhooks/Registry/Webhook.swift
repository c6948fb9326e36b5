public import ChatKit
public import ChatModel

/// An address of an app that is told of events: what users call a webhook and the queue calls an endpoint.
public struct Webhook: Sendable {
    /// Whether deliveries go out. Those of a disabled webhook are held and go out when it is enabled (`product.md` 6).
    public enum Status: String, Sendable, CaseIterable { case enabled, disabled }

    /// `wh_…`, never used again.
    public var id: String
    public var space: SpaceID
    /// What its owner decides.
    public var settings: WebhookSettings
    public var status: Status
    /// Why it is disabled: one sentence; nil while enabled.
    public var statusReason: String?
    /// What its deliveries are signed with; the current one first.
    var secrets: [WebhookSecret]
    /// Only later events are matched: the watermark when the webhook was made.
    public var since: Timetoken
    public var created: Timetoken
    /// When the record last changed; with `etag`, set by the directory.
    public var updated: Timetoken
    /// Nothing has been delivered since, though it was tried; nil while it works. Known once it has lasted a while.
    public var failingSince: Timetoken?
    /// Opaque, for `ETag` and `If-Match`; changes with each change of the record.
    public var etag: String

    init(
        id: String, space: SpaceID, settings: WebhookSettings, status: Status = .enabled, statusReason: String? = nil,
        secrets: [WebhookSecret], since: Timetoken, created: Timetoken, updated: Timetoken, etag: String = ""
    ) {
        self.id = id
        self.space = space
        self.settings = settings
        self.status = status
        self.statusReason = statusReason
        self.secrets = secrets
        self.since = since
        self.created = created
        self.updated = updated
        self.etag = etag
    }

    public var endpoint: EndpointID { EndpointID(id, in: space) }

    /// How many secrets sign a delivery now: two while a rotation lasts.
    public func activeSecretCount(at now: Timetoken) -> Int { secrets.count { $0.isActive(at: now) } }
}

/// What the owner of a webhook decides; a value to create, replace and merge.
public struct WebhookSettings: Sendable {
    /// Where to post; `https`, or what the deployment's address guard permits.
    public var url: String
    /// Types to be told of. `*` leaves out the chatty types, which must be named (`BuiltInTypes.isChatty`).
    public var types: [NamePattern]
    /// Channels to be told of. `*` leaves out `$system`, which must be named.
    public var channels: [NamePattern]
    /// Narrows further.
    public var filter: Filter?
    public var description: String
    /// Deliveries under way at once, 1...100; nil: the deployment's default (`Limits.deliveryConcurrency`).
    public var concurrency: Int?

    public init(
        url: String, types: [NamePattern] = [.all], channels: [NamePattern] = [.all], filter: Filter? = nil,
        description: String = "", concurrency: Int? = nil
    ) {
        self.url = url
        self.types = types
        self.channels = channels
        self.filter = filter
        self.description = description
        self.concurrency = concurrency
    }
}

/// A webhook with the secret that was just made for it. The only moment the secret is shown.
public struct IssuedWebhook: Sendable {
    public var webhook: Webhook
    /// `whsec_…`
    public var secret: String
}

extension Webhook {
    /// From now on its deliveries are held. One that is disabled keeps its reason.
    mutating func disable(_ reason: String) {
        guard status == .enabled else { return }
        status = .disabled
        statusReason = reason
    }
}
