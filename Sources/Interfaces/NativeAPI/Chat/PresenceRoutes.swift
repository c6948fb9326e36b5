import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addPresenceRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(.get, "/v1/channels/{channel}/presence", handler: asCaller(getOccupants))
        router.add(.get, "/v1/channels/{channel}/presence/{user}", handler: asCaller(getOccupant))
        router.add(
            .put, "/v1/channels/{channel}/presence/{user}", body: body,
            handler: asCaller(Self.unconditional(putOccupant)))
        router.add(
            .delete, "/v1/channels/{channel}/presence/{user}", handler: asCaller(Self.unconditional(deleteOccupant)))
        router.add(.get, "/v1/channels/{channel}/presence/{user}/state", handler: asCaller(getPresenceState))
        router.add(
            .put, "/v1/channels/{channel}/presence/{user}/state", body: body,
            handler: asCaller(Self.unconditional(putPresenceState)))
        router.add(.get, "/v1/users/{user}/presence", handler: asCaller(getPositions))
    }

    /// `GET /v1/channels/{channel}/presence`: returns a page of the users who are present on a channel.
    private func getOccupants(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).occupants(
            of: request.name("channel"), after: listing.cursor, listing.order ?? .ascending, limit: listing.limit)
        return Listing.response(Page(page), to: request) { $0.print(to: &$1) }
    }

    /// `GET /v1/channels/{channel}/presence/{user}`: returns the presence of a user on a channel, or 404 when the user
    /// is not present.
    private func getOccupant(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let occupant = try await occupant(request, caller)
        return .json(JSONText { occupant.print(to: &$0) }.bytes)
    }

    /// `PUT /v1/channels/{channel}/presence/{user}`: makes a user present on a channel, or extends the user's presence
    /// (a heartbeat).
    private func putOccupant(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let bytes = request.body.bytes.isEmpty ? JSONText.emptyObject.bytes : request.body.bytes
        let fields = try Fields(bytes, limits: limits, known: ["ttl_seconds", "state"])
        let seconds = try fields.integer("ttl_seconds", in: 2...86_400)
        let state = fields.member("state")?.text
        let isNew = try await chat(for: caller, request).appear(
            request.name("user"), on: request.name("channel"), for: seconds.map { .seconds($0) }, state: state)
        return isNew ? .empty(status: 201, headers: [("Location", request.path)]) : .empty()
    }

    /// `DELETE /v1/channels/{channel}/presence/{user}`: ends a user's presence on a channel, on all devices. Returns no
    /// content.
    private func deleteOccupant(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try await chat(for: caller, request).disappear(request.name("user"), from: request.name("channel"))
        return .empty()
    }

    /// `GET /v1/channels/{channel}/presence/{user}/state`: returns the state that a user shows on a channel; `{}` when
    /// the user shows none.
    private func getPresenceState(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        return .json((try await occupant(request, caller).state ?? .emptyObject).bytes)
    }

    /// `PUT /v1/channels/{channel}/presence/{user}/state`: sets the state that a user shows on a channel, and returns
    /// the state.
    private func putPresenceState(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let state = try Fields.document(request.body.bytes, limits: limits).text
        try await chat(for: caller, request).show(state, as: request.name("user"), on: request.name("channel"))
        return .json(state.bytes)
    }

    /// `GET /v1/users/{user}/presence`: returns a page of the channels on which a user is present.
    private func getPositions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let channels = try await chat(for: caller, request).presentChannels(of: request.name("user"))
        return Listing.response(try listing.page(of: channels, id: { $0 }), to: request) { channel, writer in
            writer.beginObject()
            writer.member("channel", channel)
            writer.endObject()
        }
    }

    private func occupant(_ request: Request, _ caller: Caller) async throws -> Occupancy.Occupant {
        let (user, channel) = (request.name("user"), request.name("channel"))
        guard let occupant = try await chat(for: caller, request).occupant(user, of: channel) else {
            throw ChatError(.notFound, "user '\(user)' is not on channel '\(channel)'", slug: "not_present")
        }
        return occupant
    }
}

extension Occupancy.Occupant {
    func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("user", user)
        writer.member("state", state ?? .null)
        writer.endObject()
    }
}

extension Page<Occupancy.Occupant> {
    /// A page of occupants (users who are present on a channel). Its cursor is the name of its last occupant; `total`
    /// is the number of all occupants.
    init(_ occupancy: Occupancy) {
        let end = occupancy.hasMore ? occupancy.occupants.last?.user : nil
        self.init(items: occupancy.occupants, hasMore: end != nil, cursor: end, total: occupancy.count)
    }
}
