import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking

/// Prints the answers of subscribers. Thousands may wait for the same items: they share the last answer's bytes.
final class SubscribePrinter: Sendable {
    private struct Last {
        var app: AppID
        var cursor: Timetoken
        var timetokens: [Timetoken]
        /// By what each item came.
        var matches: [SubscriptionMatch.Place?]
        var text: [UInt8]

        func isOf(_ batch: PollBatch, _ reader: Subscriber) -> Bool {
            cursor == batch.cursor && app == reader.app
                && timetokens.elementsEqual(batch.events.lazy.map(\.timetoken))
                && matches.elementsEqual(batch.events.lazy.map { reader.match.place(of: $0) })
        }
    }

    /// What came of the event that was looked at last: those who wait are asked about the same one after the other.
    private struct Seen {
        let timetoken: Timetoken
        let shown: VisiblePayload?
        /// Holds what filters have read of the event.
        let subject: FilterSubject?

        init(_ event: Event) {
            timetoken = event.timetoken
            shown = VisiblePayload(event)
            subject = shown.map { FilterSubject(event, wireData: $0.payload, wireMeta: $0.meta) }
        }
    }

    private let last = Lock<Last?>(nil)
    /// Behind a lock of its own, which whoever has taken it out never waits for.
    private let seen = Lock<Lock<Seen>?>(nil)

    /// What this wire shows of an event; nil for one that it does not.
    func shown(_ event: Event) -> VisiblePayload? { look(at: event, \.shown) }

    /// Whether this wire shows an event to a reader with that filter.
    func isShown(_ event: Event, by filter: Filter) -> Bool {
        look(at: event) { seen in
            guard let shown = seen.shown, let subject = seen.subject else { return false }
            return shown.isNeverFiltered || filter.accepts(subject)
        }
    }

    private func look<Value: Sendable>(at event: Event, _ body: (Seen) -> Value) -> Value {
        let last = seen.withLock { last in
            defer { last = nil }
            return last
        }
        let isOfEvent = last?.withLock { $0.timetoken == event.timetoken } ?? false
        let looked = isOfEvent ? last ?? Lock(Seen(event)) : Lock(Seen(event))
        defer { seen.withLock { $0 = looked } }
        return looked.withLock { body($0) }
    }

    /// The answer to one of those who waited.
    func answer(_ batch: PollBatch, to reader: Subscriber) -> Response {
        if let last = last.withLock({ $0 }), last.isOf(batch, reader) { return .wire(last.text) }
        let text = Self.text(batch, reader)
        let new = Last(
            app: reader.app, cursor: batch.cursor, timetokens: batch.events.map(\.timetoken),
            matches: batch.events.map { reader.match.place(of: $0) }, text: text)
        last.withLock { $0 = new }
        return .wire(text)
    }

    static func answer(_ batch: PollBatch, to reader: Subscriber) -> Response { .wire(text(batch, reader)) }

    /// The position stands first, without a space: one SDK finds its cursor in the first bytes when it can read no more.
    private static func text(_ batch: PollBatch, _ reader: Subscriber) -> [UInt8] {
        JSONText(capacity: 64 + batch.events.reduce(0) { $0 + $1.draft.weight + 160 }) { writer in
            writer.beginObject()
            writer.key("t")
            // A log without events ends at zero, which would ask for another handshake, and that without end.
            writer.position(max(batch.cursor, 1))
            writer.key("m")
            writer.beginArray()
            for event in batch.events { item(event, reader, to: &writer) }
            writer.endArray()
            writer.endObject()
        }.bytes
    }

    private static func item(_ event: Event, _ reader: Subscriber, to writer: inout JSONWriter) {
        guard let shown = VisiblePayload(event), let place = reader.match.place(of: event) else { return }
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

/// Who reads, and what of all that happens is theirs: what is kept of a request while it waits, which thousands do.
struct Subscriber: Sendable {
    let app: AppID
    let subscribeKey: String
    let match: SubscriptionMatch
    let filter: Filter?

    /// Everything that is said or that happens in those channels; what of it this subscriber gets is the match's to say.
    var selection: Selection { Selection(channels: match.channels(in: app), isWire: true) }

    /// Whether the subscriber gets the event.
    func wants(_ event: Event, _ print: SubscribePrinter) -> Bool {
        guard match.place(of: event) != nil else { return false }
        guard let filter else { return VisiblePayload.showsAtOnce(event) || print.shown(event) != nil }
        return print.isShown(event, by: filter)
    }
}
