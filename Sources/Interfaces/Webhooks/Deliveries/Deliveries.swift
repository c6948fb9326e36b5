public import ChatCore
public import ChatModel
import HTTPClient
public import JSON
import Locking

/// The deliveries to webhooks and their outcomes. Every method requires the scope `manage`. Deliveries of events
/// outside the caller's channels and types are treated as nonexistent.
public struct Deliveries: Sendable {
    let registry: WebhookRegistry
    private let tokens: PostTokens

    init(registry: WebhookRegistry, tokens: PostTokens) {
        self.registry = registry
        self.tokens = tokens
    }

    var queue: any DeliveryQueue { registry.queue }

    /// Selects the deliveries to list. Deliveries of the newest event come first, unless the list requests another
    /// order.
    public struct Query: Sendable {
        /// The id of a webhook or a subscription; nil for all subscribers.
        public var subscriber: String?
        /// Selects deliveries with one of these statuses; empty for all.
        public var statuses: Set<DeliveryStatus> = []
        /// Selects deliveries of the event with this timetoken; nil for all.
        public var event: Timetoken?
        /// Selects deliveries of events with a matching type; empty for all.
        public var types: [NamePattern] = []
        /// Selects deliveries of events in a matching channel; empty for all.
        public var channels: [NamePattern] = []
        /// The limit, cursor, order and time bounds of the list. The time bounds apply to the timetokens of the events,
        /// not to the times of the attempts.
        public var list: RecordList

        /// Creates a query that selects all deliveries of the app within the time bounds of `list`.
        public init(_ list: RecordList) { self.list = list }
    }

    /// The app's deliveries in the order of their events. The time bounds are exclusive. A page may have fewer
    /// deliveries than its limit although there is a next page.
    ///
    /// - Throws: `.forbidden` without the scope `manage`; `.malformed` for an invalid cursor.
    public func list(_ wanted: Query, by caller: Caller) async throws(ChatError) -> Page<Delivery> {
        try caller.require(.manage)
        let list = wanted.list
        var query = DeliveryQuery(app: caller.app, limit: list.limit)
        query.subscriber = wanted.subscriber
        query.statuses = wanted.statuses
        query.event = wanted.event
        query.after = list.after
        query.before = list.before
        query.order = list.order == .ascending ? .oldestFirst : .newestFirst
        query.cursor = list.cursor
        guard !wanted.types.isEmpty || !wanted.channels.isEmpty else {
            var page = try await queue.list(query)
            page.items.removeAll { !caller.reaches($0) }
            return page
        }
        query.wantsCursors = true
        return try await RecordList.page(limit: list.limit, from: list.cursor) {
            [query] cursor, limit async throws(ChatError) in
            var query = query
            query.cursor = cursor
            query.limit = limit
            let found = try await queue.list(query)
            var page = Page<Delivery?>(
                items: found.items.map { caller.reaches($0) ? $0 : nil }, hasMore: found.hasMore, cursor: found.cursor)
            page.cursors = found.cursors
            return page
        } _: { delivery in
            (wanted.types.isEmpty || wanted.types.match(delivery.type))
                && (wanted.channels.isEmpty || wanted.channels.match(delivery.channel))
        }
    }

    /// A delivery with its attempts, the oldest attempt first.
    ///
    /// - Throws: `.notFound` when the app has no such delivery; `.forbidden` without the scope `manage`.
    public func delivery(
        _ id: String, by caller: Caller
    ) async throws(ChatError) -> (delivery: Delivery, attempts: [DeliveryAttempt]) {
        try caller.require(.manage)
        guard let found = try await queue.delivery(id, in: caller.app), caller.reaches(found.0) else {
            throw ChatError(.notFound, "no delivery has this id")
        }
        return (found.0, found.1)
    }

    /// Makes a delivery due now, whatever its state. The delivery keeps its id. A pending retry is replaced. A delivery
    /// of a disabled webhook is sent when the webhook is enabled.
    ///
    /// - Throws: `.notFound` when the app has no such delivery; `.conflict` when an attempt is in progress, when the
    ///   webhook is deleted, and when the maximum number of deliveries waits for the webhook.
    public func retry(_ id: String, by caller: Caller) async throws(ChatError) -> Delivery {
        let found = try await delivery(id, by: caller).delivery
        guard try await queue.replay(.ids([id], in: caller.app), isDryRun: false) > 0 else {
            throw unrepeatable(found)
        }
        // The circuit is closed too, because a manual retry is meant to show the receiver's current state immediately.
        await registry.resetCircuit(of: found.subscriber)
        return try await delivery(id, by: caller).delivery
    }

    private func unrepeatable(_ delivery: Delivery) -> ChatError {
        let (webhook, isThere) = registry.snapshot.withLock {
            ($0[delivery.subscriber], $0.isKnown(delivery.subscriber) || $0.subscription(delivery.subscriber) != nil)
        }
        guard isThere else {
            return ChatError(.conflict, "the webhook of this delivery was deleted, so the delivery cannot be sent")
        }
        if let webhook, webhook.status != .enabled, delivery.due == nil {
            return ChatError(
                .conflict,
                "the webhook is not enabled, and has reached its limit of held deliveries; enable the webhook first")
        }
        return ChatError(
            .conflict, "an attempt of this delivery is in progress; try again after it ends", retryAfter: .seconds(1))
    }

    /// Posts a sample event (`webhook.test`) to a webhook, enabled or not, and waits for the response. The post has the
    /// form of a delivery, but it is not queued, not retried and not listed.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.conflict` when the receiver must consent first;
    ///   `.tooMany` when too many such posts are in progress.
    public func test(webhook id: String, by caller: Caller) async throws(ChatError) -> DeliveryAttempt {
        let webhook = try await registry.permitted(id, by: caller)
        try registry.requireReach(of: webhook.settings, by: caller)
        guard webhook.status == .enabled || registry.hasConsent(webhook) else {
            throw ChatError(.conflict, "the receiver has not consented yet; send POST /v1/webhooks/{id}/verify first")
        }
        return try await registry.manualPosts.pass(webhook.subscriber) { () async throws(ChatError) in
            try await test(webhook, by: caller)
        }
    }

    private func test(_ webhook: Webhook, by caller: Caller) async throws(ChatError) -> DeliveryAttempt {
        let start = registry.service.clock.now
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("webhook", webhook.id)
            writer.member("message", "This is a test event.")
            writer.endObject()
        }
        let event = Event(
            timetoken: start,
            draft: EventDraft(
                channel: ChannelID(ChannelID.systemName, in: caller.app), type: "webhook.test", retention: .passing,
                data: data))
        let run = try await registry.preview(of: event, for: webhook, at: start)
        let answered: CompletedAttempt
        if let request = run.requests.first, let post = run.posts.first {
            answered = CompletedAttempt(
                deliveries: post.deliveries, post.plan, start: start, requestHeaders: request.headers,
                result: await tokens.send(request, to: webhook))
        } else {
            guard let unsent = run.unsent.first else {
                throw ChatError(.unavailable, "the test event could not be prepared; try again")
            }
            answered = unsent
        }
        // The retry table has no delays, because a test is not repeated.
        let decision = DeliveryState.decision(
            after: DeliveryState.AttemptEvent(answered.result, now: start), attempt: 1,
            table: RetryTable(delays: [], spread: 0), draw: 0)
        // The receiver works, so waiting deliveries are sent without a test attempt of the circuit breaker.
        if decision.errorClass == nil { await registry.resetCircuit(of: webhook.subscriber) }
        return DeliveryAttempt(
            answered.result, at: start, error: decision.errorClass, isManual: true,
            details: DeliveryAttempt.details(answered, decision.errorClass))
    }

    /// Creates a delivery of an event for a test or a preview. The delivery is not in the queue.
    static func preview(of event: Event, for webhook: Webhook) -> PreparedDelivery {
        let delivery = Delivery(
            id: deliveryID(of: event.timetoken, to: webhook.id), subscriber: webhook.subscriber, event: event.timetoken,
            type: event.type, channel: event.channel.name, status: .pending, attempts: 0, due: nil)
        return PreparedDelivery(
            lease: Lease(delivery: delivery, fence: 0, body: nil), body: event.envelope.bytes,
            trace: event.draft.trace?.stored)
    }
}

extension Caller {
    func reaches(_ delivery: Delivery) -> Bool {
        reaches(channel: delivery.channel) && types.match(delivery.type)
    }
}

extension Delivery {
    /// Prints the delivery as the API lists it, as the next value of `writer`.
    ///
    /// - Parameter attempts: the attempts to print as `attempt_log`; nil to leave the member out.
    public func print(to writer: inout JSONWriter, attempts: [DeliveryAttempt]? = nil) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("subscriber", subscriber.name)
        writer.member("event", event.eventID)
        writer.member("type", type)
        writer.member("channel", channel)
        writer.member("status", status.rawValue)
        writer.member("attempts", self.attempts)
        if let due { writer.member("next_attempt_at", due.timestamp) } else { writer.nullMember("next_attempt_at") }
        if let reason { writer.member("reason", reason.rawValue) } else { writer.nullMember("reason") }
        if let created { writer.member("created_at", created.timestamp) }
        if let attempts {
            writer.key("attempt_log")
            writer.beginArray()
            for attempt in attempts { attempt.print(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension DeliveryAttempt {
    /// Prints the attempt as an element of `attempt_log`, as the next value of `writer`.
    ///
    /// The body of the response is printed as text. Bytes that are not valid UTF-8 are replaced.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("at", at.timestamp)
        if let status { writer.member("status", status) } else { writer.nullMember("status") }
        if let error { writer.member("error", error) } else { writer.nullMember("error") }
        if let sentence { writer.member("message", sentence) } else { writer.nullMember("message") }
        writer.member("duration_ms", durationMilliseconds)
        writer.member("trigger", isManual ? "manual" : "automatic")
        writer.member("response_body", String(decoding: responseBody, as: UTF8.self))
        writer.member("truncated", isTruncated)
        if let details { writer.member("details", details) }
        writer.endObject()
    }
}
