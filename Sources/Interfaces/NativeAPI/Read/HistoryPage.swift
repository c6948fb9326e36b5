import ChatCore
import ChatModel
import JSON

/// What a client asked of a channel's history, cursor and filters together.
struct HistoryQuery {
    var after = Timetoken.zero
    var before = Timetoken.distantFuture
    var order = HistoryRequest.Order.oldestFirst
    var limit: Int
    var types: [NamePattern] = []
    var user: String?
    var cursor: PageCursor?

    /// What the walk through one channel goes through, in whatever order and steps.
    func seal(for channel: ChannelID) -> ListCursorCodec {
        let filters = types.map { "type=\($0)" }.sorted() + (user.map { ["user=\($0)"] } ?? [])
        return ListCursorCodec(["history", channel.name, "\(after)", "\(before)"] + filters)
    }

    /// The request for one channel: one page of the walk.
    func request(for channel: ChannelID) -> HistoryRequest {
        let isBack = cursor?.direction == .prev
        let walk = isBack ? order.reversed : order
        var request = HistoryRequest(channel: channel, after: after, before: before, order: walk, limit: limit)
        request.types = types
        request.user = user
        guard let cursor else { return request }
        switch walk {
        case .oldestFirst: request.after = max(after, cursor.position)
        case .newestFirst: request.before = min(before, cursor.position)
        }
        return request
    }
}

/// One page of a channel's history, as it is answered.
struct HistoryPage: Sendable {
    var events: [Event]
    var next: PageCursor?
    var previous: PageCursor?
    /// Where a stream continues: nothing of what the walk covers is missed or repeated.
    var continuation: Timetoken

    /// - Parameters:
    ///   - page: what the log gave for `query.request(for:)`.
    ///   - watermark: of the app, taken before the log was asked.
    init(_ page: Page<Event>, of query: HistoryQuery, in channel: ChannelID, watermark: Timetoken) {
        let isBack = query.cursor?.direction == .prev
        events = isBack ? page.items.reversed() : page.items
        let latest = Timetoken(max(1, query.before.rawValue) - 1)
        // An event that was committed after the watermark was taken, and is here, need not come again.
        let seen = max(min(watermark, latest), events.map(\.timetoken).max() ?? .zero)
        let anchor = query.order == .newestFirst ? query.cursor?.anchor ?? seen : seen
        let list = query.seal(for: channel).digest
        func cursor(_ position: Timetoken?, _ direction: PageCursor.Direction) -> PageCursor? {
            position.map {
                PageCursor(position: $0, order: query.order, direction: direction, anchor: anchor, list: list)
            }
        }
        // As far as the log has looked: what was left out on the way may be all there was.
        let end = page.hasMore ? page.position : nil
        next = cursor(isBack ? events.last?.timetoken : end, .next)
        previous = cursor(isBack ? end : query.cursor == nil ? nil : events.first?.timetoken, .prev)
        // A walk towards the present goes on where the page ends; one into the past has seen the present already.
        continuation = query.order == .oldestFirst ? (next?.position ?? anchor) : anchor
    }

    /// - Parameter included: the objects beside each event; empty where nothing was asked for.
    func print(to writer: inout JSONWriter, with included: [RenderedIncludes] = []) {
        print(to: &writer) { writer in
            for event in events.shown(with: included) { event.print(to: &writer) }
        }
    }

    /// - Parameter items: prints what is shown in the events' places.
    func print(to writer: inout JSONWriter, items: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        items(&writer)
        writer.endArray()
        if let next { writer.member("next_cursor", next.text) } else { writer.nullMember("next_cursor") }
        if let previous { writer.member("prev_cursor", previous.text) } else { writer.nullMember("prev_cursor") }
        writer.member("has_more", next != nil)
        writer.member("cursor", continuation.description)
        writer.endObject()
    }

    /// Bytes the page takes in print, roughly.
    var weight: Int { events.reduce(128) { $0 + $1.draft.weight + 96 } }
}
