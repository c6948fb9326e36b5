import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addParticipantRoutes(to router: inout Router) {
        router.add(.get, "/v1/channels/{channel}/participants", handler: asCaller(getParticipants))
        router.add(.get, "/v1/channels/{channel}/participants/{user}", handler: asCaller(getParticipant))
        router.add(
            .put, "/v1/channels/{channel}/participants/{user}",
            handler: asCaller(Self.unconditional(putParticipant)))
        router.add(
            .delete, "/v1/channels/{channel}/participants/{user}",
            handler: asCaller(Self.unconditional(deleteParticipant)))
    }

    /// `GET /v1/channels/{channel}/participants`: returns a page of the participants of an open channel.
    private func getParticipants(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let inside = try await chat(for: caller, request).participants(
            of: request.name("channel"), after: listing.cursor, listing.order ?? .ascending, limit: listing.limit)
        return Listing.response(Page(inside), to: request, print: Self.print)
    }

    /// `GET /v1/channels/{channel}/participants/{user}`: returns a participant, or 404 when the user is not inside the
    /// channel.
    private func getParticipant(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (user, channel) = (request.name("user"), request.name("channel"))
        guard let participant = try await chat(for: caller, request).participant(user, of: channel) else {
            throw ChatError(.notFound, "user '\(user)' is not inside channel '\(channel)'", slug: "not_present")
        }
        return .json(JSONText { Self.print(participant, to: &$0) }.bytes)
    }

    private static func print(_ participant: Occupancy.Occupant, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("user", participant.user)
        writer.endObject()
    }

    /// `PUT /v1/channels/{channel}/participants/{user}`: makes a user enter a channel. Returns the number of
    /// participants with status 201, or 200 when the user is already inside.
    private func putParticipant(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (user, channel) = (request.name("user"), request.name("channel"))
        let entered = try await chat(for: caller, request).enter(user, into: channel)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("user", user)
            writer.member("channel", channel)
            writer.member("participant_count", entered.count)
            writer.endObject()
        }
        return .json(
            body.bytes, status: entered.isNew ? 201 : 200,
            headers: entered.isNew ? [("Location", request.path)] : [])
    }

    /// `DELETE /v1/channels/{channel}/participants/{user}`: makes a user leave a channel. Returns no content.
    private func deleteParticipant(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try await chat(for: caller, request).exit(request.name("user"), from: request.name("channel"))
        return .empty()
    }
}
