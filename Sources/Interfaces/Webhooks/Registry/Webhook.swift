public import ChatCore
public import ChatModel
public import Signing

/// A registered URL to which an app's events are posted. The queue calls it a subscriber.
public struct Webhook: Sendable {
    /// The status of a webhook. Deliveries are sent only while the webhook is enabled; otherwise they wait
    /// (docs/webhooks.md, "When it fails").
    public enum Status: String, Sendable, CaseIterable {
        case enabled, disabled
        /// The receiver has not consented yet (``WebhookVerification``).
        case pendingVerification = "pending_verification"
        /// The record exists, but this release of the gateway cannot read it, or the key that encrypted it is missing.
        /// This status is never stored.
        case unreadable
    }

    /// The id, `wh_…`. Ids are never reused.
    public var id: String
    /// The app of the webhook.
    public var app: AppID
    /// The settings that the webhook's owner chooses.
    public var settings: WebhookSettings
    /// The status.
    public var status: Status
    /// The reason why the webhook is disabled, in one sentence; nil when it is not disabled.
    var statusReason: String?
    /// The URL whose receiver has consented; nil when no receiver has consented.
    var verifiedURL: String?
    /// The maximum number of posts per minute that the receiver stated in its consent; nil for no limit.
    var allowedPerMinute: Int?
    /// The secrets that sign the deliveries, the current secret first.
    var secrets: [WebhookSecret]
    /// The app's signing key if the settings request a signature with it; nil otherwise.
    var appKey: AppSigningKey?
    /// The encrypted form of each secret; the key of an entry is the secret. A secret is encrypted again only when it
    /// changes, so that an update without a change keeps the record's etag.
    var seals: [String: String] = [:]
    /// The position in the event log after which events match: the end of the log when the webhook was created.
    public var since: Timetoken
    /// The time of creation.
    public var created: Timetoken
    /// The time of the record's last change. The directory (the store of records) sets the time and `etag`.
    public var updated: Timetoken
    /// The time of the first failure since the last success; nil while the webhook works. After a restart, the time is
    /// known only if the failures had lasted for at least 30 minutes before the restart.
    var failingSince: Timetoken?
    /// The newest failure since the last successful delivery; nil if there was none.
    var lastError: AttemptError?
    /// The state of the circuit breaker. `until` is the time until which an open circuit stays open.
    var circuit: (condition: CircuitBreaker.Condition, until: Timetoken?) = (.closed, nil)
    /// An opaque version for `ETag` and `If-Match`. It changes with each change of the record.
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

/// The settings that the owner of a webhook chooses.
public struct WebhookSettings: Sendable {
    /// The URL of the receiver. Its scheme is `https`, or another scheme that the gateway's address guard permits.
    public var url: String
    /// The types to match. `*` excludes the frequent types (`BuiltInTypes.isFrequent`), which must be named.
    public var types: [NamePattern]
    /// The channels to match. `*` excludes `$system`, which must be named.
    public var channels: [NamePattern]
    /// A filter that an event must match in addition to the types and channels; nil for none.
    public var filter: Filter?
    /// A description for human readers.
    public var description: String
    /// The maximum number of simultaneous attempts, 1...100; nil for the gateway's default
    /// (`Limits.deliveryConcurrency`).
    public var concurrency: Int?
    /// The name of the body format: a ``BuiltInFormat``, or a format of ``WebhookOptions/formats``.
    public var format = BuiltInFormat.envelope.rawValue
    /// The template of the body if the format is `template`; nil for any other format.
    public var template: WebhookTemplate?
    /// The objects to include with each event, in the envelope's member `included`.
    public var included: Set<IncludedObject> = []
    /// The header fields that the owner sets for every delivery. The API never returns their values.
    public var headers: [HeaderField] = []
    /// The credentials sent to the receiver; nil for none.
    public var auth: WebhookAuth?
    /// The settings of the TLS handshake; nil for the defaults.
    public var tls: WebhookTLS?
    /// The signatures of each post; at least one.
    public var signatures: [OutboundSigner.Signature] = [.standard]
    /// The delays after failed attempts. The maximum number of attempts is the number of delays plus one. Nil for the
    /// default schedule (docs/webhooks.md, "When it fails").
    var retryDelays: [Duration]?
    /// The maximum duration of an attempt, 5 to 30 seconds; nil for ``defaultTimeout``.
    public var timeout: Duration?
    /// The maximum number of attempts that begin per second; nil for no limit.
    var ratePerSecond: Double?
    /// The order in which deliveries are sent.
    public var ordering = DeliveryOrdering.none
    /// The settings for posts with several events; nil for one event per post.
    public var batch: WebhookBatch?
    /// The consent that the receiver must give; nil for the gateway's default (``WebhookOptions/verification``).
    public var verification: WebhookVerification?

    /// True when each post needs an OAuth access token, which is fetched from a token endpoint.
    var needsToken: Bool { if case .oauth2 = auth { true } else { false } }

    /// The default maximum duration of an attempt, from the name lookup to the last byte of the response.
    static let defaultTimeout: Duration = .seconds(15)

    /// Creates settings with the given values, and with defaults for the properties that are not parameters.
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

/// A webhook with its newly created secret. The API returns the secret only once.
public struct IssuedWebhook: Sendable {
    /// The webhook.
    public var webhook: Webhook
    /// The secret, `whsec_…`.
    public var secret: String
}

extension Webhook {
    /// Disables the webhook, so that its deliveries wait. A webhook that is already disabled keeps its reason.
    mutating func disable(_ reason: String) {
        guard status != .disabled else { return }
        status = .disabled
        statusReason = reason
    }
}

/// A secret that signs deliveries, and the time at which it ends.
struct WebhookSecret: Sendable {
    var key: StandardSigningKey
    /// The time until which a rotated secret also signs, so that receivers can switch. Nil for the current secret.
    var until: Timetoken?

    func isActive(at now: Timetoken) -> Bool { until.map { now < $0 } ?? true }
}
