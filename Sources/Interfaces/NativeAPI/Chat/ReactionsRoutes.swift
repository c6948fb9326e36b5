import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// What is attached to messages: reactions, and actions of an app's own.
    func addReactionRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let one = "/v1/channels/{channel}/messages/{timetoken}"
        router.add(.get, RoutePattern(one + "/reactions"), handler: asCaller(getReactions))
        router.add(
            .put, RoutePattern(one + "/reactions/{value}"), body: body,
            handler: asCaller(Self.unconditional(putReaction)))
        router.add(
            .delete, RoutePattern(one + "/reactions/{value}"), handler: asCaller(Self.unconditional(deleteReaction)))
        router.add(.get, RoutePattern(one + "/actions"), handler: asCaller(getActions))
        router.add(.post, RoutePattern(one + "/actions"), body: body, handler: asCaller(postAction))
        router.add(
            .delete, RoutePattern(one + "/actions/{action}"), handler: asCaller(Self.unconditional(deleteAction)))
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}/reactions`
    func getReactions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).reactions(
            to: request.messageTimetoken(), in: request.name("channel"), limit: listing.limit, cursor: listing.cursor)
        return Listing.response(page, to: request, print: Self.print)
    }

    /// `PUT /v1/channels/{channel}/messages/{timetoken}/reactions/{value}`
    func putReaction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["user"])
        let (reaction, isNew) = try await chat(for: caller, request).react(
            request.name("value"), to: request.messageTimetoken(), in: request.name("channel"),
            by: try parameters.text("user"))
        return .json(JSONText { Self.print(reaction, to: &$0) }.bytes, status: isNew ? 201 : 200)
    }

    /// `DELETE /v1/channels/{channel}/messages/{timetoken}/reactions/{value}`
    func deleteReaction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["user"])
        try await chat(for: caller, request).takeBack(
            reaction: request.name("value"), to: request.messageTimetoken(), in: request.name("channel"),
            by: try parameters.text("user"))
        return .empty()
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}/actions`
    func getActions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).actions(
            of: request.messageTimetoken(), in: request.name("channel"), limit: listing.limit, cursor: listing.cursor)
        return Listing.response(page, to: request, print: Self.print)
    }

    /// `POST /v1/channels/{channel}/messages/{timetoken}/actions`
    func postAction(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["type", "value", "user"])
        let action = try await chat(for: caller, request).addAction(
            try fields.required("type", try fields.string("type")),
            try fields.required("value", try fields.string("value")), to: request.messageTimetoken(),
            in: request.name("channel"), by: try fields.string("user"))
        return .json(
            JSONText { Self.print(action, to: &$0) }.bytes, status: 201,
            headers: [("Location", "\(request.path)/\(action.timetoken)")])
    }

    /// `DELETE /v1/channels/{channel}/messages/{timetoken}/actions/{action}`
    func deleteAction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["user"])
        guard let action = Timetoken(exactly: request.name("action")) else {
            throw ChatError(.notFound, "no such action: its timetoken names it")
        }
        try await chat(for: caller, request).removeAction(
            action, from: request.messageTimetoken(), in: request.name("channel"), by: try parameters.text("user"))
        return .empty()
    }

    private static func print(_ action: MessageActionRecord, to writer: inout JSONWriter) {
        writer.beginObject()
        action.printMembers(to: &writer)
        writer.endObject()
    }
}
