import ChatCore
import ChatModel
import JSON

/// A client's query of a channel's history: cursor and filters.
struct HistoryQuery {
    var after = Timetoken.zero
    var before = Timetoken.distantFuture
    var order = HistoryRequest.Order.oldestFirst
    var limit: Int
    var types: [NamePattern] = []
    var user: String?
    var cursor: PageCursor?

    /// The codec for the page cursors of this query. The codec depends on the channel, the bounds and the filters, but
    /// not on the order and the page size.
    func seal(for channel: ChannelID) -> ListCursorCodec {
        let filters = types.map { "type=\($0)" }.sorted() + (user.map { ["user=\($0)"] } ?? [])
        return ListCursorCodec(["history", channel.name, "\(after)", "\(before)"] + filters)
    }

    /// The request to the log for the next page of one channel.
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

/// One page of a channel's history, as the API returns it.
struct HistoryPage: Sendable {
    var events: [Event]
    var next: PageCursor?
    var previous: PageCursor?
    /// The position from which a stream continues after the pages of this query, without missing or repeating an event.
    var continuation: Timetoken

    /// Creates a page and its cursors from the events that the log has returned.
    ///
    /// - Parameters:
    ///   - page: the result of the log for `query.request(for:)`.
    ///   - watermark: the app's watermark, read from the log before the page.
    init(_ page: Page<Event>, of query: HistoryQuery, in channel: ChannelID, watermark: Timetoken) {
        let isBack = query.cursor?.direction == .prev
        events = isBack ? page.items.reversed() : page.items
        let latest = Timetoken(max(1, query.before.rawValue) - 1)
        // A stream that continues after this page need not return the events of this page again, even events that were
        // committed after the watermark was read.
        let seen = max(min(watermark, latest), events.map(\.timetoken).max() ?? .zero)
        let anchor = query.order == .newestFirst ? query.cursor?.anchor ?? seen : seen
        let list = query.seal(for: channel).digest
        func cursor(_ position: Timetoken?, _ direction: PageCursor.Direction) -> PageCursor? {
            position.map {
                PageCursor(position: $0, order: query.order, direction: direction, anchor: anchor, list: list)
            }
        }
        // The next page begins where the log stopped reading, because the filters may have left out all events up to
        // this position.
        let end = page.hasMore ? page.position : nil
        next = cursor(isBack ? events.last?.timetoken : end, .next)
        previous = cursor(isBack ? end : query.cursor == nil ? nil : events.first?.timetoken, .prev)
        // If the oldest events come first, a stream continues after this page. If the newest come first, a stream
        // continues after the newest event of the first page.
        continuation = query.order == .oldestFirst ? (next?.position ?? anchor) : anchor
    }

    /// Prints the page with its events as the next value of `writer`.
    ///
    /// - Parameter included: the objects to include with each event; empty when nothing was requested.
    func print(to writer: inout JSONWriter, with included: [RenderedIncludes] = []) {
        print(to: &writer) { writer in
            for event in events.shown(with: included) { event.print(to: &writer) }
        }
    }

    /// Prints the page as the next value of `writer`. The caller prints the elements.
    ///
    /// - Parameter items: prints the elements of the array `data`, one after the other.
    func print(to writer: inout JSONWriter, items: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        items(&writer)
        writer.endArray()
        if let next { writer.member("next_cursor", next.text) } else { writer.nullMember("next_cursor") }
        if let previous { writer.member("prev_cursor", previous.text) } else { writer.nullMember("prev_cursor") }
        writer.member("has_more", next != nil)
        writer.member("stream_cursor", continuation.description)
        writer.endObject()
    }

    /// The approximate size of the printed page in bytes.
    var weight: Int { events.reduce(128) { $0 + $1.weight + 96 } }
}
