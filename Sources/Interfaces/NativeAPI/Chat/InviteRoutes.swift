import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addInviteRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(.post, "/v1/channels/{channel}/invites", body: body, handler: asCaller(postInvites))
        router.add(.post, "/v1/channels/{channel}/invites/{user}/accept", body: body, handler: asCaller(acceptInvite))
        router.add(.post, "/v1/channels/{channel}/invites/{user}/decline", body: body, handler: asCaller(declineInvite))
    }

    /// `POST /v1/channels/{channel}/invites`: invites users to a channel and returns their memberships.
    private func postInvites(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["users", ActorName.parameter])
        let users = try fields.required("users", try fields.strings("users"))
        let memberships = try await chat(for: caller, request).invite(
            users, to: request.name("channel"), by: try fields.actor())
        let answer = JSONText { writer in
            writer.beginObject()
            writer.key("data")
            writer.beginArray()
            for membership in memberships { membership.show(to: caller, &writer) }
            writer.endArray()
            writer.endObject()
        }
        return .json(answer.bytes)
    }

    /// `POST /v1/channels/{channel}/invites/{user}/accept`: accepts a user's invitation and returns the membership.
    private func acceptInvite(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: [ActorName.parameter])
        let membership = try await chat(for: caller, request).acceptInvite(
            of: request.name("user"), to: request.name("channel"), by: try fields?.actor())
        return Self.response(membership, to: caller)
    }

    /// `POST /v1/channels/{channel}/invites/{user}/decline`: declines a user's invitation. Returns no content.
    private func declineInvite(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: [ActorName.parameter])
        try await chat(for: caller, request).declineInvite(
            of: request.name("user"), to: request.name("channel"), by: try fields?.actor())
        return .empty()
    }
}
