public import ChatCore
public import ChatModel
public import Signing

/// A registered address to which an app's events are posted. The queue calls it a subscriber.
public struct Webhook: Sendable {
    /// The status of a webhook. Deliveries are sent only while it is enabled and are held otherwise (docs/webhooks.md,
    /// "When it fails").
    public enum Status: String, Sendable, CaseIterable {
        case enabled, disabled
        /// The receiver has not consented yet (``WebhookVerification``).
        case pendingVerification = "pending_verification"
        /// The record exists but cannot be read by this version, or not without the key it was sealed with. Never
        /// stored.
        case unreadable
    }

    /// `wh_…`, never reused.
    public var id: String
    /// The app of the webhook.
    public var app: AppID
    /// The settings that its owner chooses.
    public var settings: WebhookSettings
    /// The status.
    public var status: Status
    /// The reason why it is disabled, in one sentence; nil otherwise.
    var statusReason: String?
    /// The address whose receiver has consented; nil when none has.
    var verifiedURL: String?
    /// The posts per minute that the receiver allowed when it consented; nil for no limit.
    var allowedPerMinute: Int?
    /// The secrets that sign its deliveries, the current one first.
    var secrets: [WebhookSecret]
    /// The app's key, while the settings request a signature with it.
    var appKey: AppSigningKey?
    /// The stored forms of secret texts, by their plain text. A text is sealed again only when it changes, so that a
    /// change without effect keeps the record's etag.
    var seals: [String: String] = [:]
    /// Only events after this position are matched: the watermark when the webhook was created.
    public var since: Timetoken
    /// The time of creation.
    public var created: Timetoken
    /// The time of the record's last change; like `etag`, set by the directory.
    public var updated: Timetoken
    /// The time since which every attempt has failed; nil while the webhook works. Known once the failures have lasted
    /// for a while.
    var failingSince: Timetoken?
    /// The newest failure since the last delivery.
    var lastError: AttemptError?
    /// The state of the circuit, and the time until which it stays open.
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

    /// The key of the webhook in the queue.
    var subscriber: SubscriberID { SubscriberID(id, in: app) }
}

/// The settings that the owner of a webhook chooses; a value to create, replace and merge.
public struct WebhookSettings: Sendable {
    /// The URL of the receiver: `https`, or another scheme that the deployment's address guard permits.
    public var url: String
    /// The types to match. `*` excludes the frequent types, which must be named (`BuiltInTypes.isFrequent`).
    public var types: [NamePattern]
    /// The channels to match. `*` excludes `$system`, which must be named.
    public var channels: [NamePattern]
    /// A filter that further limits the events; nil for all.
    public var filter: Filter?
    /// A text for people.
    public var description: String
    /// The maximum number of attempts at once, 1...100; nil for the deployment's default
    /// (`Limits.deliveryConcurrency`).
    public var concurrency: Int?
    /// The name of the body format: one of ``BuiltInFormat``, or of ``WebhookOptions/formats``.
    public var format = BuiltInFormat.envelope.rawValue
    /// The template of the body, for the format `template`.
    public var template: WebhookTemplate?
    /// The objects to include beside each event, in the envelope's member `included`.
    public var included: Set<IncludedObject> = []
    /// The owner's own fields, sent with every delivery. Their values are never printed.
    public var headers: [HeaderField] = []
    /// The credentials sent to the receiver; nil for none.
    public var auth: WebhookAuth?
    /// The settings of the TLS handshake; nil for the defaults.
    public var tls: WebhookTLS?
    /// The signatures; at least one.
    public var signatures: [OutboundSigner.Signature] = [.standard]
    /// The delays after failed attempts, which also set the number of attempts; nil for the default schedule
    /// (docs/webhooks.md, "When it fails").
    var retryDelays: [Duration]?
    /// The maximum duration of one attempt, 5 to 30 s; nil for ``defaultTimeout``.
    public var timeout: Duration?
    /// The maximum number of attempts begun per second; nil for no limit.
    var ratePerSecond: Double?
    /// The order of deliveries.
    public var ordering = DeliveryOrdering.none
    /// The batch settings; nil for one event per post.
    public var batch: WebhookBatch?
    /// The required consent; nil for the deployment's default (``WebhookOptions/verification``).
    public var verification: WebhookVerification?

    /// True when its posts carry an access token that has to be fetched first.
    var needsToken: Bool { if case .oauth2 = auth { true } else { false } }

    /// The time from the name lookup to the last byte of the response.
    static let defaultTimeout: Duration = .seconds(15)

    /// Creates settings with the defaults for everything else.
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

/// A webhook with its newly created secret. The secret is shown only here.
public struct IssuedWebhook: Sendable {
    /// The webhook.
    public var webhook: Webhook
    /// `whsec_…`
    public var secret: String
}

extension Webhook {
    /// Disables the webhook, so that its deliveries are held. A disabled webhook keeps its reason.
    mutating func disable(_ reason: String) {
        guard status != .disabled else { return }
        status = .disabled
        statusReason = reason
    }
}

/// A secret that signs deliveries, and its end.
struct WebhookSecret: Sendable {
    var key: StandardSigningKey
    /// Nil for the current secret. A rotated secret also signs until then, so that receivers can switch.
    var until: Timetoken?

    func isActive(at now: Timetoken) -> Bool { until.map { now < $0 } ?? true }
}
