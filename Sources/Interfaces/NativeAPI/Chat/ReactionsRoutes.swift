import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Adds the routes of data attached to messages: reactions, and actions whose meaning an app defines.
    func addReactionRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let one = "/v1/channels/{channel}/messages/{timetoken}"
        router.add(.get, RoutePattern(one + "/reactions"), handler: asCaller(getReactions))
        router.add(.get, RoutePattern(one + "/reactions/{value}"), handler: asCaller(getReaction))
        router.add(
            .put, RoutePattern(one + "/reactions/{value}"), handler: asCaller(Self.unconditional(putReaction)))
        router.add(
            .delete, RoutePattern(one + "/reactions/{value}"), handler: asCaller(Self.unconditional(deleteReaction)))
        router.add(.get, RoutePattern(one + "/actions"), handler: asCaller(getActions))
        router.add(.post, RoutePattern(one + "/actions"), body: body, handler: asCaller(postAction))
        router.add(.get, RoutePattern(one + "/actions/{action}"), handler: asCaller(getAction))
        router.add(
            .delete, RoutePattern(one + "/actions/{action}"), handler: asCaller(Self.unconditional(deleteAction)))
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}/reactions`: returns a page of the reactions to a message.
    func getReactions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).reactions(
            to: request.messageTimetoken(), in: request.name("channel"), listing.list)
        return Listing.response(page, to: request, print: { $0.show(to: &$1) })
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}/reactions/{value}`: returns the reaction of one user.
    func getReaction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["user"])
        let reaction = try await chat(for: caller, request).reaction(
            request.name("value"), to: request.messageTimetoken(), in: request.name("channel"),
            by: try parameters.text("user"))
        guard let reaction else {
            throw ChatError(.notFound, "the user has not reacted to the message with this value")
        }
        return .json(JSONText { reaction.show(to: &$0) }.bytes)
    }

    /// `PUT /v1/channels/{channel}/messages/{timetoken}/reactions/{value}`: adds a user's reaction to a message.
    /// Returns the reaction with status 201, or 200 when the reaction existed already.
    func putReaction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["user"])
        let (reaction, isNew) = try await chat(for: caller, request).react(
            request.name("value"), to: request.messageTimetoken(), in: request.name("channel"),
            by: try parameters.text("user"))
        // The location includes the query, which names the reaction's user.
        return .json(
            JSONText { reaction.show(to: &$0) }.bytes, status: isNew ? 201 : 200,
            headers: isNew ? [("Location", request.target)] : [])
    }

    /// `DELETE /v1/channels/{channel}/messages/{timetoken}/reactions/{value}`: removes a user's reaction to a message.
    /// Returns no content.
    func deleteReaction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["user"])
        try await chat(for: caller, request).removeReaction(
            reaction: request.name("value"), to: request.messageTimetoken(), in: request.name("channel"),
            by: try parameters.text("user"))
        return .empty()
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}/actions`: returns a page of the actions on a message.
    func getActions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).actions(
            of: request.messageTimetoken(), in: request.name("channel"), listing.list)
        return Listing.response(page, to: request, print: { $0.show(to: &$1) })
    }

    /// `POST /v1/channels/{channel}/messages/{timetoken}/actions`: adds an action to a message and returns it with
    /// status 201.
    func postAction(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["type", "value", "user"])
        let action = try await chat(for: caller, request).addAction(
            try fields.required("type", try fields.string("type")),
            try fields.required("value", try fields.string("value")), to: request.messageTimetoken(),
            in: request.name("channel"), by: try fields.string("user"))
        return .json(
            JSONText { action.show(to: &$0) }.bytes, status: 201,
            headers: [("Location", "\(request.path)/\(action.timetoken)")])
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}/actions/{action}`: returns an action on a message, or 404 when
    /// the message has no such action.
    func getAction(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let action = try await chat(for: caller, request).action(
            try request.actionTimetoken(), of: request.messageTimetoken(), in: request.name("channel"))
        guard let action else { throw Request.noAction }
        return .json(JSONText { action.show(to: &$0) }.bytes)
    }

    /// `DELETE /v1/channels/{channel}/messages/{timetoken}/actions/{action}`: removes an action from a message. Returns
    /// no content.
    func deleteAction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["user"])
        try await chat(for: caller, request).removeAction(
            try request.actionTimetoken(), from: request.messageTimetoken(), in: request.name("channel"),
            by: try parameters.text("user"))
        return .empty()
    }
}

extension Request {
    fileprivate static let noAction = ChatError(
        .notFound, "no action has this timetoken; the path must have its action_timetoken")

    /// The timetoken of the action in the path. The path may contain the id of the event that reported the action
    /// instead.
    ///
    /// - Throws: `.notFound` when the path segment is neither a timetoken nor an event id.
    fileprivate func actionTimetoken() throws(ChatError) -> Timetoken {
        guard let action = Timetoken(ofEvent: name("action")) else { throw Self.noAction }
        return action
    }
}
