import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addModerationRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let restriction: RoutePattern = "/v1/channels/{channel}/restrictions/{user}"
        router.add(.get, "/v1/channels/{channel}/restrictions", handler: asCaller(getRestrictions))
        router.add(.get, "/v1/users/{user}/restrictions", handler: asCaller(getUserRestrictions))
        router.add(.get, restriction, handler: asCaller(getRestriction))
        router.add(
            .put, restriction, body: body,
            handler: asCaller(returning(RestrictionRequest.members, from: getRestriction, to: putRestriction)))
        router.add(.delete, restriction, handler: asCaller(deleteRestriction))
        router.add(.put, "/v1/channels/{channel}/freeze", body: body, handler: asCaller(Self.unconditional(putFreeze)))
        router.add(.delete, "/v1/channels/{channel}/freeze", handler: asCaller(Self.unconditional(deleteFreeze)))
    }

    /// `GET /v1/channels/{channel}/restrictions`: returns a page of the restrictions of users in a channel.
    private func getRestrictions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).restrictions(
            in: request.name("channel"), listing.list)
        return Listing.response(page, to: request) { $0.show(to: &$1) }
    }

    /// `GET /v1/users/{user}/restrictions`: returns a page of a user's restrictions in all channels.
    private func getUserRestrictions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).restrictions(
            of: request.name("user"), listing.list)
        return Listing.response(page, to: request) { $0.show(to: &$1) }
    }

    /// `GET /v1/channels/{channel}/restrictions/{user}`: returns a user's restriction in a channel.
    private func getRestriction(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let restriction = try await chat(for: caller, request).restriction(
            of: request.name("user"), in: request.name("channel"))
        return Self.response(restriction).unlessKnown(EntityTag.quoted(restriction.etag), to: request.headers)
    }

    /// `PUT /v1/channels/{channel}/restrictions/{user}`: restricts a user in a channel. Returns the restriction with
    /// status 201 or 200.
    private func putRestriction(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: RestrictionRequest.members)
        let (chat, restrictionRequest) = (try chat(for: caller, request), try RestrictionRequest(fields))
        let precondition = try await requiredRestriction(request, caller)
        let actor = try fields.actor()
        let written = try await Self.meeting(precondition) { () async throws(ChatError) in
            try await chat.restrict(
                request.name("user"), in: request.name("channel"), restrictionRequest, precondition: precondition,
                by: actor)
        }
        return Self.response(written.record, createdAt: written.isNew ? request.path : nil)
    }

    /// `DELETE /v1/channels/{channel}/restrictions/{user}`: ends a user's restriction in a channel. Returns no content,
    /// or 404 when there is none.
    private func deleteRestriction(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter])
        let (user, channel) = (request.name("user"), request.name("channel"))
        let wasThere = try await chat(for: caller, request).lift(
            restrictionOf: user, in: channel, precondition: try await requiredRestriction(request, caller),
            by: try parameters.actor())
        return try Self.removed(
            wasThere, "user '\(user)' is not restricted in channel '\(channel)'", slug: "no_restriction")
    }

    /// `PUT /v1/channels/{channel}/freeze`: freezes a channel and returns the channel's record.
    private func putFreeze(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: [ActorName.parameter])
        return try await freeze(request, caller, true, by: try fields?.actor())
    }

    /// `DELETE /v1/channels/{channel}/freeze`: unfreezes a channel. Returns no content.
    private func deleteFreeze(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter])
        _ = try await freeze(request, caller, false, by: try parameters.actor())
        return .empty()
    }

    private func freeze(
        _ request: Request, _ caller: Caller, _ isFrozen: Bool, by actor: String?
    ) async throws -> Response {
        let channel = try await chat(for: caller, request).freeze(request.name("channel"), isFrozen, by: actor)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("channel", channel.id)
            writer.member("frozen", channel.isFrozen)
            writer.endObject()
        }
        return .json(body.bytes, headers: [("ETag", EntityTag.quoted(channel.etag))])
    }

    private func requiredRestriction(_ request: Request, _ caller: Caller) async throws -> RecordChange.Precondition {
        try await Self.precondition(of: request) {
            try await chat(for: caller, request).restriction(of: request.name("user"), in: request.name("channel")).etag
        }
    }

    private static func response(_ restriction: RestrictionRecord, createdAt location: String? = nil) -> Response {
        let created = location.map { [(name: "Location", value: $0)] } ?? []
        return .json(
            JSONText { restriction.show(to: &$0) }.bytes, status: location == nil ? 200 : 201,
            headers: [(name: "ETag", value: EntityTag.quoted(restriction.etag))] + created)
    }
}

extension RestrictionRequest {
    static let members = ["ban", "mute", "reason", "until", ActorName.parameter]

    init(_ fields: Fields) throws(ChatError) {
        self.init(
            isBan: try fields.boolean("ban") ?? false, isMute: try fields.boolean("mute") ?? false,
            reason: try fields.string("reason"))
        until = try fields.time("until")
    }
}
