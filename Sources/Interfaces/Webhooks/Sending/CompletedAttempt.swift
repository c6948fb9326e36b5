import ChatCore
import ChatModel
import HTTPClient

/// A delivery in an attempt. A class, because it is passed on often and has many fields.
final class PreparedDelivery: Sendable {
    let lease: Lease
    /// The bytes from which it is composed: the event's envelope, or what an earlier attempt has stored.
    let body: [UInt8]
    /// The composed content; nil when it could not be composed.
    let content: PostContent?
    /// The event's trace context, when it is known separately from the body.
    let trace: String?

    init(lease: Lease, body: [UInt8], content: PostContent? = nil, trace: String? = nil) {
        self.trace = trace
        self.lease = lease
        self.body = body
        self.content = content
    }

    /// The bytes to store, so that a retry repeats them even when the event is deleted or the webhook changed in the
    /// meantime. Nil when they are stored already.
    var bytesToStore: [UInt8]? { PostContent.isEnvelope(body) ? content?.stored : nil }
}

/// A finished attempt with its result. A class for the same reason as ``PreparedDelivery``.
final class CompletedAttempt: Sendable {
    /// The deliveries that it carried: one, or those of a batch; all for the same webhook.
    let sent: [PreparedDelivery]
    let plan: PostPlan
    let start: Timetoken
    /// The header fields as they were sent.
    let requestHeaders: [OutboundRequest.Field]
    let result: OutboundResult

    init(
        sent: [PreparedDelivery], _ plan: PostPlan, start: Timetoken, requestHeaders: [OutboundRequest.Field],
        result: OutboundResult
    ) {
        self.sent = sent
        self.plan = plan
        self.start = start
        self.requestHeaders = requestHeaders
        self.result = result
    }

    var subscriber: SubscriberID { plan.subscriber }
}

extension PreparedDelivery {
    /// The event's trace context; nil when it is not traced.
    var context: TraceContext? { content?.trace.flatMap { TraceContext(stored: $0) } }
}

extension Span {
    /// The span of an attempt in the trace of the event it delivers. For several events, in the first one's trace with
    /// links to the others. Nil when that trace is not recorded.
    init?(_ answered: CompletedAttempt, _ errorClass: String?) {
        let contexts = answered.sent.compactMap(\.context)
        guard let parent = contexts.first, parent.isSampled,
            let field = answered.requestHeaders.first(where: { $0.name == "traceparent" }),
            let own = TraceContext(traceparent: field.value, state: parent.state)
        else { return nil }
        let lease = answered.sent[0].lease
        self.init(
            "webhook attempt", .client, at: own, in: parent.spanID, from: answered.start,
            to: answered.start.adding(answered.result.timings.total))
        attributes = [
            ("http.request.method", .text("POST")), ("parley.webhook", .text(answered.subscriber.name)),
            ("parley.delivery", .text(lease.delivery.id)), ("parley.attempt", .integer(lease.delivery.attempts + 1)),
        ]
        if let status = answered.result.status { attributes.append(("http.response.status_code", .integer(status))) }
        failure = errorClass
        links = Array(contexts.dropFirst())
    }
}
