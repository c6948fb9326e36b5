import ChatCore
import ChatModel
import HTTPServer
import Locking

extension NativeAPI {
    private static let searchNames = ["channel", "type", "filter", "user", "after", "before", "order"]

    /// `GET /v1/events`: kept events of all channels that the caller reads.
    func getEvents(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: Self.searchNames + Listing.parameterNames)
        let listing = try Listing(parameters, of: request, limits: limits)
        let chat = service.chat(for: caller)
        let filter = try parameters.text("filter").map { text throws(ChatError) in
            try Filter(text, limits: chat.limits)
        }
        let user = try parameters.text("user")
        if let user { try Names.check(user: user) }
        var stretch = LogStretch(
            after: try parameters.position("after") ?? .zero,
            before: try parameters.position("before") ?? .distantFuture,
            order: try order(try parameters.text("order"), nil))
        if let cursor = listing.cursor {
            guard let position = Timetoken(text: cursor) else { throw ChatError.foreignCursor }
            stretch = stretch.rest(behind: position)
        }
        let search = EventSearch(
            try chat.selection(
                channels: parameters.texts("channel"), types: parameters.texts("type"), filter: filter),
            user: user, in: stretch, limit: listing.limit)
        // A filter may be asked about ten thousand events.
        var page =
            filter == nil
            ? try await chat.search(search)
            : try await asLongWork { () async throws(ChatError) in try await chat.search(search) }
        page.cursor = page.hasMore ? page.position.description : nil
        return Listing.response(page, to: request) { $0.printEnvelope(to: &$1) }
    }
}
