import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking

extension NativeAPI {
    private static let searchNames = ["channel", "type", "filter", "user", Parameters.include]

    /// `GET /v1/events`: returns stored events of all channels that the caller may read.
    func getEvents(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: Self.searchNames + Listing.timedNames)
        let listing = try Listing(parameters, of: request, limits: limits)
        let chat = service.chat(for: caller)
        let inclusion = chat.inclusion(of: try parameters.included())
        let filter = try parameters.text("filter").map { text throws(ChatError) in
            try Filter(text, limits: chat.limits)
        }
        let user = try parameters.text("user")
        if let user { try Names.check(user: user) }
        var range = LogRange(
            after: listing.list.after ?? .zero, before: listing.list.before ?? .distantFuture,
            order: try order(listing.order, nil))
        if let cursor = listing.cursor {
            guard let position = Timetoken(text: cursor) else { throw ChatError.foreignCursor }
            range = range.rest(behind: position)
        }
        let search = EventSearch(
            try chat.selection(
                channels: parameters.texts("channel"), types: parameters.texts("type"), filter: filter),
            user: user, in: range, limit: listing.limit)
        // A search with a filter runs off the loop, because it may examine 10,000 events.
        var page =
            filter == nil
            ? try await chat.search(search)
            : try await asLongWork { () async throws(ChatError) in try await chat.search(search) }
        page.cursor = page.hasMore ? page.position.description : nil
        let included = try await chat.included(with: page.items, inclusion)
        return Listing.response(page.shown(with: included), to: request) { $0.print(to: &$1) }
    }
}

/// An event with the included objects that the client requested.
struct EventWithIncludes: Sendable {
    let event: Event
    /// The value of the member `included`; nil when nothing was requested.
    let included: JSONText?

    func print(to writer: inout JSONWriter) { event.printEnvelope(to: &writer, included: included) }
}

extension [Event] {
    /// Combines each event with its included objects.
    ///
    /// - Parameter included: the objects of each event; empty when nothing was requested.
    func shown(with included: [RenderedIncludes]) -> [EventWithIncludes] {
        guard !included.isEmpty else { return map { EventWithIncludes(event: $0, included: nil) } }
        return zip(self, included).map { EventWithIncludes(event: $0, included: $1.text) }
    }
}

extension Page<Event> {
    /// Combines each event of the page with its included objects.
    ///
    /// - Parameter included: the objects of each event; empty when nothing was requested.
    fileprivate func shown(with included: [RenderedIncludes]) -> Page<EventWithIncludes> {
        Page<EventWithIncludes>(
            items: items.shown(with: included), hasMore: hasMore, position: position, cursor: cursor)
    }
}
