import ChatCore
import ChatModel
import HTTPClient

extension PreparedDelivery {
    /// Where the event stands in a trace; nil for one that is not traced.
    var context: TraceContext? { content?.trace.flatMap { TraceContext(stored: $0) } }
}

extension Span {
    /// An attempt, in the trace of the event it delivers; of several, in that of the first, with links to the others. Nil
    /// where that trace is not recorded.
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
