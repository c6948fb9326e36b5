import ChatCore
public import ChatModel
public import JSON

/// The state of a webhook: its waiting deliveries and the results of its latest attempts.
public struct WebhookStats: Sendable {
    /// The maximum to which waiting deliveries are counted. A count equal to this maximum means "at least this number".
    static let mostCounted = 100_000

    var webhook: String
    var counts: [(status: DeliveryStatus, count: Int)]
    /// The oldest waiting delivery; nil when there is none or the caller may not read its event.
    var oldestWaiting: Delivery?
    /// The state of the webhook on all nodes together.
    var state: WebhookState

    /// Prints the statistics as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("webhook", webhook)
        writer.key("deliveries")
        writer.beginObject()
        for (status, count) in counts {
            writer.key(text: status.rawValue)
            writer.integer(count)
        }
        writer.endObject()
        writer.member("counted_up_to", Self.mostCounted)
        writer.key("oldest_waiting")
        if let oldestWaiting { oldestWaiting.print(to: &writer) } else { writer.null() }
        writer.member("circuit", state.circuit.condition.rawValue)
        writer.moment("open_until", state.circuit.until)
        writer.moment("last_success_at", state.lastSuccess)
        writer.moment("last_failure_at", state.lastFailure)
        writer.key("windows")
        writer.beginObject()
        for (window, tally) in zip(AttemptStatistics.windows, state.windows) {
            writer.key(text: window.name)
            Self.print(tally, window.seconds, to: &writer)
        }
        writer.endObject()
        writer.endObject()
    }

    private static func print(_ tally: AttemptStatistics.Tally, _ seconds: Int, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("attempts", tally.attempts)
        writer.member("delivered", tally.delivered)
        writer.member("failed", tally.failed)
        for (name, share): (StaticString, Double) in [("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99)] {
            if let value = tally.milliseconds(ofShare: share) {
                writer.member(name, value)
            } else {
                writer.nullMember(name)
            }
        }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func moment(_ name: StaticString, _ moment: Timetoken?) {
        if let moment { member(name, moment.timestamp) } else { nullMember(name) }
    }
}

extension Deliveries {
    /// The state and statistics of a webhook.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.forbidden` when the webhook matches events that the
    ///   caller may not read.
    public func stats(of id: String, by caller: Caller) async throws(ChatError) -> WebhookStats {
        let webhook = try await registry.permitted(id, by: caller)
        var query = DeliveryQuery(app: caller.app, limit: 1)
        query.subscriber = id
        let queries = DeliveryStatus.allCases.map { status in
            query.statuses = [status]
            return query
        }
        let counts = try await queue.counts(queries, most: WebhookStats.mostCounted)
        query.statuses = [.pending, .failed, .held]
        query.order = .oldestFirst
        return WebhookStats(
            webhook: id, counts: Array(zip(DeliveryStatus.allCases, counts)),
            oldestWaiting: try await queue.list(query).items.first(where: caller.reaches),
            state: await registry.states(of: [webhook.subscriber])[0])
    }

    /// The timetoken of the newest event whose delivery to the webhook succeeded and is still stored. If no successful
    /// delivery is stored, the position in the event log after which the webhook receives events.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.forbidden` when the webhook matches events that the
    ///   caller may not read.
    public func lastSuccess(of id: String, by caller: Caller) async throws(ChatError) -> Timetoken {
        let webhook = try await registry.permitted(id, by: caller)
        var query = DeliveryQuery(app: caller.app, limit: 1)
        query.subscriber = id
        query.statuses = [.delivered]
        return try await queue.list(query).items.first?.event ?? webhook.since
    }
}
