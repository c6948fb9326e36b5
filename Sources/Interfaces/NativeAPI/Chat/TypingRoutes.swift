import ChatCore
import ChatModel
import HTTPServer

extension NativeAPI {
    func addTypingRoutes(to router: inout Router) {
        router.add(.get, "/v1/channels/{channel}/typing", handler: asCaller(getTypingUsers))
        router.add(.put, "/v1/channels/{channel}/typing/{user}", handler: asCaller(Self.unconditional(putTyping)))
        router.add(.delete, "/v1/channels/{channel}/typing/{user}", handler: asCaller(Self.unconditional(deleteTyping)))
    }

    /// `GET /v1/channels/{channel}/typing`: returns a page of the users who are typing on a channel.
    private func getTypingUsers(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).typists(
            of: request.name("channel"), after: listing.cursor, listing.order ?? .ascending, limit: listing.limit)
        return Listing.response(page, to: request) { $0.printReference(to: &$1) }
    }

    /// `PUT /v1/channels/{channel}/typing/{user}`: shows that a user is typing. Returns no content.
    private func putTyping(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try await chat(for: caller, request).startTyping(request.name("user"), on: request.name("channel"))
        return .empty()
    }

    /// `DELETE /v1/channels/{channel}/typing/{user}`: shows that a user has stopped typing. Returns no content.
    private func deleteTyping(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try await chat(for: caller, request).stopTyping(request.name("user"), on: request.name("channel"))
        return .empty()
    }
}
