import ChatCore
import ChatModel
import HTTPClient

/// A finished attempt with its result. A class, because it has many fields and is passed between functions often.
final class CompletedAttempt: Sendable {
    /// The deliveries of the attempt: one delivery, or the deliveries of a batch. All deliveries are for the same
    /// webhook.
    let deliveries: [PreparedDelivery]
    let plan: PostPlan
    let start: Timetoken
    /// The header fields of the request.
    let requestHeaders: [OutboundRequest.Field]
    let result: OutboundResult

    init(
        deliveries: [PreparedDelivery], _ plan: PostPlan, start: Timetoken, requestHeaders: [OutboundRequest.Field],
        result: OutboundResult
    ) {
        self.deliveries = deliveries
        self.plan = plan
        self.start = start
        self.requestHeaders = requestHeaders
        self.result = result
    }

    var subscriber: SubscriberID { plan.subscriber }
}

extension Span {
    /// The trace span of an attempt, in the trace of its event. An attempt with several events belongs to the trace of
    /// the first event, with links to the others. Nil when the first event's trace is not recorded.
    init?(_ answered: CompletedAttempt, _ errorClass: String?) {
        let contexts = answered.deliveries.compactMap(\.context)
        guard let parent = contexts.first, parent.isSampled,
            let field = answered.requestHeaders.first(where: { $0.name == "traceparent" }),
            let own = TraceContext(traceparent: field.value, state: parent.state)
        else { return nil }
        let lease = answered.deliveries[0].lease
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
