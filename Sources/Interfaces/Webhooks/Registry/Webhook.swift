public import ChatCore
public import ChatModel
public import Signing

/// An address of an app that is told of events: what users call a webhook and the queue calls an endpoint.
public struct Webhook: Sendable {
    /// Whether deliveries go out. Those of a webhook that is not enabled are held (`product.md` 6).
    public enum Status: String, Sendable, CaseIterable {
        case enabled, disabled
        /// Its receiver has not consented yet (``WebhookVerification``).
        case pendingVerification = "pending_verification"
        /// Its record is there and cannot be understood: by this version, or without a key it was sealed with. Never stored.
        case unreadable
    }

    /// `wh_…`, never used again.
    public var id: String
    public var app: AppID
    /// What its owner decides.
    public var settings: WebhookSettings
    public var status: Status
    /// Why it is disabled: one sentence; nil otherwise.
    var statusReason: String?
    /// The address whose receiver has consented; nil before one has.
    var verifiedURL: String?
    /// Posts per minute that the receiver has allowed when it consented; nil: any number.
    var allowedPerMinute: Int?
    /// What its deliveries are signed with; the current one first.
    var secrets: [WebhookSecret]
    /// The app's key, while its settings ask for a signature by it.
    var appKey: AppSigningKey?
    /// Secret texts as they are stored, by what they open to: a text is sealed anew only when it changes, so that a change
    /// that alters nothing keeps the record's etag.
    var seals: [String: String] = [:]
    /// Only later events are matched: the watermark when the webhook was made.
    public var since: Timetoken
    public var created: Timetoken
    /// When the record last changed; with `etag`, set by the directory.
    public var updated: Timetoken
    /// Nothing has been delivered since, though it was tried; nil while it works. Known once it has lasted a while.
    var failingSince: Timetoken?
    /// The newest failure since the last delivery.
    var lastError: AttemptError?
    /// Whether its lane is shut for a while because attempts fail, and until when.
    var circuit: (condition: CircuitBreaker.Condition, until: Timetoken?) = (.closed, nil)
    /// Opaque, for `ETag` and `If-Match`; changes with each change of the record.
    public var etag: String

    init(
        id: String, app: AppID, settings: WebhookSettings, status: Status = .enabled, statusReason: String? = nil,
        secrets: [WebhookSecret], since: Timetoken, created: Timetoken, updated: Timetoken, etag: String = ""
    ) {
        self.id = id
        self.app = app
        self.settings = settings
        self.status = status
        self.statusReason = statusReason
        self.secrets = secrets
        self.since = since
        self.created = created
        self.updated = updated
        self.etag = etag
    }

    public var subscriber: SubscriberID { SubscriberID(id, in: app) }
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
    /// The name of what bodies look like: one of ``BuiltInFormat``, or of ``WebhookOptions/formats``.
    public var format = BuiltInFormat.envelope.rawValue
    /// The body of the format `template`.
    public var template: WebhookTemplate?
    /// Objects to post beside each event, in the envelope's member `included`.
    public var included: Set<IncludedObject> = []
    /// Fields of the owner's own, sent with every delivery. Their values are never printed.
    public var headers: [HeaderField] = []
    public var auth: WebhookAuth?
    public var tls: WebhookTLS?
    /// At least one.
    public var signatures: [OutboundSigner.Signature] = [.standard]
    /// What follows each failed attempt, and so how many there are; nil: the schedule of `conventions.md` 10.
    var retryDelays: [Duration]?
    /// The time one attempt may take, 5 to 30 s; nil: ``defaultTimeout``.
    public var timeout: Duration?
    /// Attempts begun per second; nil: unlimited.
    var ratePerSecond: Double?
    public var ordering = DeliveryOrdering.none
    /// Nil: one event a post.
    public var batch: WebhookBatch?
    /// Nil: what the deployment demands (``WebhookOptions/verification``).
    public var verification: WebhookVerification?

    /// Whether its posts carry an access token that has to be got first.
    var needsToken: Bool { if case .oauth2 = auth { true } else { false } }

    /// Name lookup to last byte (`conventions.md` 10).
    static let defaultTimeout: Duration = .seconds(15)

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
        guard status != .disabled else { return }
        status = .disabled
        statusReason = reason
    }
}

/// A key deliveries are signed with, and until when.
struct WebhookSecret: Sendable {
    var key: StandardSigningKey
    /// Nil for the current one; a rotated one signs beside it until then, so that receivers can change over.
    var until: Timetoken?

    func isActive(at now: Timetoken) -> Bool { until.map { now < $0 } ?? true }
}
