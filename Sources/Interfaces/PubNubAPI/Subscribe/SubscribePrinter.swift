import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking

/// Prints the responses to subscribers. Thousands of subscribers may wait for the same events, so the last response is
/// reused.
final class SubscribePrinter: Sendable {
    private final class Last: Sendable {
        let app: AppID
        let cursor: Timetoken
        let timetokens: [Timetoken]
        /// The names that the reader follows.
        let match: SharedMatch
        /// The channel and the subscription through which the reader receives each event; nil for an event that the
        /// reader does not receive.
        let places: [SubscriptionMatch.Place?]
        let response: Response

        init(_ batch: PollBatch, _ reader: Subscriber, _ response: Response) {
            app = reader.app
            cursor = batch.cursor
            timetokens = batch.events.map(\.timetoken)
            match = reader.match
            places = batch.events.map { reader.match.names.place(of: $0) }
            self.response = response
        }

        func isOf(_ batch: PollBatch, _ reader: Subscriber) -> Bool {
            guard cursor == batch.cursor, app == reader.app,
                timetokens.elementsEqual(batch.events.lazy.map(\.timetoken))
            else { return false }
            return match === reader.match
                || places.elementsEqual(batch.events.lazy.map { reader.match.names.place(of: $0) })
        }
    }

    /// The PubNub form of the event that was examined last. All waiting polls examine the same event one after the
    /// other.
    private struct Seen {
        let timetoken: Timetoken
        let shown: VisiblePayload?
        /// The event as filters see it, with a cache of the fields that filters have read; nil for an event that PubNub
        /// readers do not see.
        let subject: FilterSubject?

        init(_ event: Event) {
            timetoken = event.timetoken
            shown = VisiblePayload(event)
            subject = shown.map { FilterSubject(event, wireData: $0.payload, wireMeta: $0.meta) }
        }
    }

    private let last = Lock<Last?>(nil)
    /// The form of the event that was examined last; nil before the first event, and while a caller uses the form. A
    /// caller takes the form out, evaluates its filter, which may take long, and stores the form again. Another caller
    /// meanwhile makes a form of its own, so no caller waits for the inner lock.
    private let seen = Lock<Lock<Seen>?>(nil)

    /// The event in the form of PubNub readers; nil for an event that they do not see.
    func shown(_ event: Event) -> VisiblePayload? { withForm(of: event, \.shown) }

    /// Returns true when a reader with this filter sees the event.
    func isShown(_ event: Event, by filter: Filter) -> Bool {
        withForm(of: event) { seen in
            guard let shown = seen.shown, let subject = seen.subject else { return false }
            return shown.isNeverFiltered || filter.accepts(subject)
        }
    }

    /// Calls `body` with the event in the form of PubNub readers. The form is cached for the next reader of the same
    /// event.
    private func withForm<Value: Sendable>(of event: Event, _ body: (Seen) -> Value) -> Value {
        let last = seen.withLock { last in
            defer { last = nil }
            return last
        }
        let isOfEvent = last?.withLock { $0.timetoken == event.timetoken } ?? false
        let looked = isOfEvent ? last ?? Lock(Seen(event)) : Lock(Seen(event))
        defer { seen.withLock { $0 = looked } }
        return looked.withLock { body($0) }
    }

    /// Returns the response to one waiting subscriber.
    func answer(_ batch: PollBatch, to reader: Subscriber) -> Response {
        if let known = last.withLock({ $0 }), known.isOf(batch, reader) { return known.response }
        let response = Self.answer(batch, to: reader)
        let new = Last(batch, reader, response)
        last.withLock { $0 = new }
        return response
    }

    static func answer(_ batch: PollBatch, to reader: Subscriber) -> Response { .wire(text(batch, reader)) }

    /// Prints the response. The position is printed first and without spaces, because one SDK looks for its cursor in
    /// the first bytes of a response that it cannot parse.
    private static func text(_ batch: PollBatch, _ reader: Subscriber) -> [UInt8] {
        JSONText(capacity: 64 + batch.events.reduce(0) { $0 + $1.weight + 160 }) { writer in
            writer.beginObject()
            writer.key("t")
            // The position of an empty log is zero. A client would send zero as the cursor of another handshake, in an
            // endless loop.
            writer.position(max(batch.cursor, 1))
            writer.key("m")
            writer.beginArray()
            for event in batch.events { item(event, reader, to: &writer) }
            writer.endArray()
            writer.endObject()
        }.bytes
    }

    private static func item(_ event: Event, _ reader: Subscriber, to writer: inout JSONWriter) {
        guard let shown = VisiblePayload(event), let place = reader.match.names.place(of: event) else { return }
        let suffix = event.kind == .presence ? String.presenceSuffix : ""
        writer.beginObject()
        writer.member("a", "1")
        writer.member("f", 0)
        if let kind = shown.kind { writer.member("e", kind) }
        if let user = shown.user { writer.member("i", user) }
        writer.key("p")
        writer.position(event.timetoken)
        writer.member("k", reader.subscribeKey)
        writer.member("c", place.channel + suffix)
        writer.member("d", shown.payload)
        if let meta = shown.meta { writer.member("u", meta) }
        switch place.subscription {
        case .named(let name): writer.member("b", name + suffix)
        case .direct where shown.kind != nil || !suffix.isEmpty: writer.member("b", place.channel + suffix)
        case .direct: break
        }
        if let label = shown.label { writer.member("cmt", label) }
        writer.endObject()
    }
}

/// A subscriber and its subscriptions: the parts of a request that are stored while it waits. Thousands may wait.
final class Subscriber: Sendable {
    let app: AppID
    let subscribeKey: String
    let match: SharedMatch
    let filter: Filter?

    init(app: AppID, subscribeKey: String, match: SharedMatch, filter: Filter?) {
        self.app = app
        self.subscribeKey = subscribeKey
        self.match = match
        self.filter = filter
    }

    /// Returns true when the subscriber receives the event.
    func wants(_ event: Event, _ print: SubscribePrinter) -> Bool {
        guard match.names.place(of: event) != nil else { return false }
        guard let filter else { return VisiblePayload.showsAtOnce(event) || print.shown(event) != nil }
        return print.isShown(event, by: filter)
    }
}
