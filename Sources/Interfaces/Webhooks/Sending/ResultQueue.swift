import ChatCore
import ChatModel
import HTTPClient
import Locking

/// A delivery in an attempt. A class, as it changes hands often and has many parts.
final class PreparedDelivery: Sendable {
    let lease: Lease
    /// The bytes it was made of: the event's envelope, or what an earlier attempt has kept.
    let body: [UInt8]
    /// What it has become; nil when it could not be composed.
    let content: PostContent?
    /// Where the event stands in a trace, if that is known beside the body.
    let trace: String?

    init(lease: Lease, body: [UInt8], content: PostContent? = nil, trace: String? = nil) {
        self.trace = trace
        self.lease = lease
        self.body = body
        self.content = content
    }

    /// What is to be kept, so that a retry repeats it even if the event is deleted or the webhook changed meanwhile. Nil when
    /// it is kept already.
    var kept: [UInt8]? { PostContent.isEnvelope(body) ? content?.stored : nil }
}

/// An attempt that is over, and what came of it. A class for the same reason as ``PreparedDelivery``.
final class CompletedAttempt: Sendable {
    /// What it carried: one delivery, or those of a batch; all for the same endpoint.
    let sent: [PreparedDelivery]
    let plan: PostPlan
    let start: Timetoken
    /// As they went on the wire.
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

/// Attempts that are over, on their way from the thread that drives all transfers to a task. What ends in one turn of that
/// thread goes on together.
final class ResultQueue: Sendable {
    private struct State {
        var waiting: [CompletedAttempt] = []
        var isOver = false
        var sleeper: CheckedContinuation<Void, Never>?

        mutating func takeSleeper() -> CheckedContinuation<Void, Never>? {
            defer { sleeper = nil }
            return sleeper
        }
    }

    private let state = Lock(State())

    /// Takes one in; whoever waits for it hears of it by ``announce()``.
    func append(_ answered: CompletedAttempt) { state.withLock { $0.waiting.append(answered) } }

    /// Wakes whoever waits, if there is something to be had: once for all that came together.
    func announce() {
        state.withLock { $0.waiting.isEmpty ? nil : $0.takeSleeper() }?.resume()
    }

    /// No more will come.
    func finish() {
        state.withLock { state in
            state.isOver = true
            return state.takeSleeper()
        }?.resume()
    }

    /// All there are; waits for one. Nil when it is over and nothing is left: not when the task was cancelled, as what has
    /// been answered is better recorded than sent again. For one task.
    func next() async -> [CompletedAttempt]? {
        while true {
            let (answered, isOver) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isOver)
            }
            if !answered.isEmpty { return answered }
            if isOver { return nil }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.waiting.isEmpty, !state.isOver else { return false }
                    state.sleeper = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }
}

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
