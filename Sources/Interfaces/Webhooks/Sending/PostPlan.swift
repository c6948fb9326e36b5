import ChatModel
import HTTPClient
import Signing
import Text

/// The parts that all posts to a webhook have in common: the format, the keys, the constant header fields and the
/// schedule of retries. A new plan is made when the webhook changes or when one of its secrets or keys ends. A class,
/// because every post reads it.
final class PostPlan: Sendable {
    typealias Field = OutboundRequest.Field

    let webhook: Webhook
    let subscriber: SubscriberID
    /// The webhook's own retry schedule; nil for the gateway's default.
    let retries: RetryTable?
    /// True when the body of a post is a JSON array of events.
    let isArray: Bool
    /// The format; nil when it belongs to an interface that this gateway does not include.
    private let format: (any WebhookFormat)?
    private let signer: OutboundSigner
    private let fixed: [Field]
    /// The time at which the first of the webhook's secrets and keys ends; nil if none ends.
    private let end: Timetoken?

    init(_ webhook: Webhook, at now: Timetoken, _ options: WebhookOptions, _ formats: FormatTable) {
        self.webhook = webhook
        subscriber = webhook.subscriber
        let settings = webhook.settings
        retries = settings.retryDelays.map { RetryTable(delays: $0, spread: RetryTable.standard.spread) }
        let format = formats.format(of: settings)
        self.format = format
        isArray =
            settings.format == BuiltInFormat.cloudeventsBatch.rawValue
            || (settings.batch.map { $0.events > 1 } ?? false) && format?.isBatchable == true
        let secrets = webhook.secrets.filter { $0.isActive(at: now) }
        signer = OutboundSigner(
            settings.signatures, keys: secrets.map(\.key), ed25519: webhook.appKey?.active(at: now) ?? [])
        let appKeyEnd = webhook.appKey?.previous.map(\.until).flatMap { now < $0 ? $0 : nil }
        end = (secrets.compactMap(\.until) + [appKeyEnd].compactMap(\.self)).min()
        var fixed: [Field] = [("user-agent", options.userAgent)]
        if options.verification(of: settings) == .cloudevents {
            fixed.append(("webhook-request-origin", options.origin))
        }
        switch settings.auth {
        case .basic(let user, let password):
            fixed.append(("authorization", "Basic " + Base64.encode(Array("\(user):\(password)".utf8))))
        case .bearer(let token): fixed.append(("authorization", "Bearer " + token))
        case .oauth2, nil: break
        }
        self.fixed = fixed + settings.headers.map { ($0.name, $0.value) }
    }

    /// Returns true until the first secret or key of this plan ends. After that, a new plan is needed.
    func isCurrent(at now: Timetoken) -> Bool { end.map { now < $0 } ?? true }

    /// The content of a post about one event. A content that an earlier attempt has sent is sent unchanged, even if the
    /// webhook's settings have changed.
    func content(of one: PreparedDelivery) throws(FormatError) -> PostContent {
        var content = try untracedContent(of: one)
        if content.trace == nil { content.trace = one.trace }
        return content
    }

    private func untracedContent(of one: PreparedDelivery) throws(FormatError) -> PostContent {
        guard PostContent.isEnvelope(one.body) else {
            guard let content = PostContent(stored: one.body) else {
                throw FormatError("the stored delivery is damaged")
            }
            return content
        }
        guard let format else { throw FormatError("the format '\(webhook.settings.format)' is not available here") }
        let trace = one.trace.flatMap { TraceContext(stored: $0) }
        return try format.content(of: one.body, trace: trace, for: subscriber)
    }

    /// Makes the signed request of a post.
    ///
    /// - Parameters:
    ///   - id: the `webhook-id` of the post, which is the same for all attempts.
    ///   - event: the type and channel for the header fields of a post about one event; nil for several events.
    func request(
        _ content: PostContent, id: String, attempt: Int, event: (type: String, channel: String)?, at now: Timetoken,
        trace: TraceContext? = nil
    ) throws(StandardSigningError) -> OutboundRequest {
        let seconds = Int64(now.rawValue / Timetoken.ticksPerSecond)
        let url = webhook.settings.url
        var headers: [Field] = []
        headers.reserveCapacity(12 + content.headers.count + fixed.count)
        headers.append(("content-type", content.contentType))
        headers.append(("webhook-id", id))
        headers.append(("webhook-timestamp", String(seconds)))
        headers += try signer.fields(id: id, timestamp: seconds, url: url, body: content.body)
        headers.append(("webhook-attempt", String(attempt)))
        if let event {
            headers.append(("webhook-event-type", event.type))
            headers.append(("webhook-channel", PercentEncoding.encode(event.channel, keeping: .fieldValue)))
        }
        if let trace {
            headers.append(("traceparent", trace.traceparent))
            if let state = trace.state { headers.append(("tracestate", state)) }
        }
        for field in content.headers { headers.append((field.name, field.value)) }
        headers += fixed
        return OutboundRequest(
            method: "POST", url: url, headers: headers, body: content.body,
            totalTimeout: webhook.settings.timeout ?? WebhookSettings.defaultTimeout,
            tls: webhook.settings.tls?.identity)
    }
}

/// Makes the plans for the posts of webhooks.
final class PostPlans: Sendable {
    let options: WebhookOptions
    private let formats: FormatTable

    init(_ options: WebhookOptions) {
        self.options = options
        formats = FormatTable(publicURL: options.publicURL, others: options.formats)
    }

    func plan(for webhook: Webhook, at now: Timetoken) -> PostPlan { PostPlan(webhook, at: now, options, formats) }

    /// Returns true when several events may be sent in one post.
    func isBatchable(_ settings: WebhookSettings) -> Bool { formats.format(of: settings)?.isBatchable ?? false }

    /// Returns true when the gateway has the webhook's format.
    func knows(formatOf settings: WebhookSettings) -> Bool { formats.format(of: settings) != nil }
}
