import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addUserRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(.get, "/v1/users", handler: asCaller(getUsers))
        router.add(.get, "/v1/users/{user}", handler: asCaller(getUser))
        router.add(
            .put, "/v1/users/{user}", body: body,
            handler: asCaller(returning(UserEdit.members, from: getUser, to: putUser)))
        router.add(
            .patch, "/v1/users/{user}", body: body,
            handler: asCaller(returning(UserEdit.members, from: getUser, to: patchUser)))
        router.add(.delete, "/v1/users/{user}", handler: asCaller(deleteUser))
        router.add(
            .post, "/v1/users/{user}/revoke-tokens", body: body,
            handler: asAdministrator("user.revoke_tokens", revokeUserTokens))
        router.add(.get, "/v1/users/{user}/memberships", handler: asCaller(getMemberships))
        router.add(.get, "/v1/users/{user}/blocks", handler: asCaller(getBlocks))
        router.add(.get, "/v1/users/{user}/blocks/{other}", handler: asCaller(getBlock))
        router.add(.put, "/v1/users/{user}/blocks/{other}", body: body, handler: asCaller(Self.unconditional(putBlock)))
        router.add(.delete, "/v1/users/{user}/blocks/{other}", handler: asCaller(Self.unconditional(deleteBlock)))
    }

    /// `GET /v1/users`: returns a page of the app's user records.
    private func getUsers(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try RecordListing(request, limits: limits)
        let page = try await chat(for: caller, request).users(listing.list)
        return Listing.response(page, to: request) { $0.show(to: &$1) }
    }

    /// `GET /v1/users/{user}`: returns a user's record, or 404 when the user has none.
    private func getUser(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        guard let user = try await chat(for: caller, request).user(request.name("user")) else {
            throw ChatError(.notFound, "user '\(request.name("user"))' has no record")
        }
        return Self.response(etag: user.etag) { user.show(to: &$0) }
            .unlessKnown(EntityTag.quoted(user.etag), to: request.headers)
    }

    /// `PUT /v1/users/{user}`: creates the user's record, or replaces all of it.
    private func putUser(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: UserEdit.members)
        let edit = try UserEdit(fields)
        let (chat, id) = (try chat(for: caller, request), request.name("user"))
        let by = try fields.actor()
        let precondition = try await userPrecondition(request, chat)
        let written = try await Self.meeting(precondition) { () throws(ChatError) in
            try await chat.put(user: id, edit, precondition: precondition, by: by)
        }
        return Self.response(etag: written.record.etag, createdAt: written.isNew ? request.path : nil) {
            written.record.show(to: &$0)
        }
    }

    /// `PATCH /v1/users/{user}`: changes a user's record and returns the record.
    private func patchUser(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: UserEdit.members)
        let (chat, id) = (try chat(for: caller, request), request.name("user"))
        let user = try await chat.update(
            user: id, try UserEdit(fields, merging: true), precondition: try await userPrecondition(request, chat),
            by: try fields.actor())
        return Self.response(etag: user.etag) { user.show(to: &$0) }
    }

    /// `DELETE /v1/users/{user}`: removes a user's record and revokes the user's tokens. Returns no content, or 404
    /// when the user has no record.
    private func deleteUser(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter])
        let (chat, user) = (try chat(for: caller, request), request.name("user"))
        let wasThere = try await chat.delete(
            user: user, precondition: try await userPrecondition(request, chat), by: try parameters.actor(),
            revokesTokens: true)
        return try Self.removed(
            wasThere,
            "user '\(user)' has no record; to revoke the user's tokens, send POST /v1/users/{user}/revoke-tokens")
    }

    /// `POST /v1/users/{user}/revoke-tokens`: revokes a user's tokens that were issued before a given time. The body is
    /// empty or `{"before": "<RFC 3339>"}`.
    func revokeUserTokens(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["before"])
        let before = try fields?.time("before")
        let user = request.name("user")
        let moment = try await chat(for: caller, request).revokeTokens(of: user, before: before)
        return .json(
            JSONText { writer in
                writer.beginObject()
                writer.member("user", user)
                writer.member("tokens_revoked_before", moment.timestamp)
                writer.endObject()
            }.bytes)
    }

    /// `GET /v1/users/{user}/memberships`: returns a page of a user's memberships.
    private func getMemberships(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try RecordListing(request, limits: limits)
        let page = try await chat(for: caller, request).memberships(of: request.name("user"), listing.list)
        return Listing.response(page, to: request) { $0.show(to: &$1) }
    }

    /// `GET /v1/users/{user}/blocks`: returns a page of the users whom a user has blocked.
    private func getBlocks(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).blocks(
            of: request.name("user"), listing.list)
        return Listing.response(page, to: request) { $0.show(to: &$1) }
    }

    /// `GET /v1/users/{user}/blocks/{other}`: returns a block, or 404 when the user has not blocked the other user.
    private func getBlock(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (user, other) = (request.name("user"), request.name("other"))
        guard let block = try await chat(for: caller, request).block(of: other, for: user) else {
            throw Self.noBlock(of: other, for: user)
        }
        return .json(JSONText { block.show(to: &$0) }.bytes)
    }

    private static func noBlock(of other: String, for user: String) -> ChatError {
        ChatError(.notFound, "user '\(user)' has not blocked user '\(other)'")
    }

    /// `PUT /v1/users/{user}/blocks/{other}`: blocks another user for a user. Returns the block with status 201, or 200
    /// when it existed already.
    private func putBlock(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: [ActorName.parameter])
        let block = try await chat(for: caller, request).block(
            request.name("other"), for: request.name("user"), by: try fields?.actor())
        let created = block.isNew ? [(name: "Location", value: request.path)] : []
        return .json(JSONText { block.record.show(to: &$0) }.bytes, status: block.isNew ? 201 : 200, headers: created)
    }

    /// `DELETE /v1/users/{user}/blocks/{other}`: removes a block. Returns no content, or 404 when there is none.
    private func deleteBlock(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter])
        let (user, other) = (request.name("user"), request.name("other"))
        let wasThere = try await chat(for: caller, request).unblock(
            other, for: user, by: try parameters.actor())
        guard wasThere else { throw Self.noBlock(of: other, for: user) }
        return .empty()
    }

    private func userPrecondition(_ request: Request, _ chat: ChatAccess) async throws -> RecordChange.Precondition {
        try await Self.precondition(of: request) { try await chat.user(request.name("user"))?.etag }
    }
}

extension UserEdit {
    static let members = [
        "name", "profile_url", "email", "external_id", "type", "status", "custom", "metadata", "auto_accepts_invites",
        ActorName.parameter,
    ]

    /// Parses a change of a user record.
    ///
    /// - Parameter merging: true when `custom` and `metadata` are merged into the current values, as by a merge patch.
    init(_ fields: Fields, merging: Bool = false) throws(ChatError) {
        self.init()
        name = try fields.edit("name")
        profileURL = try fields.edit("profile_url")
        email = try fields.edit("email")
        externalID = try fields.edit("external_id")
        type = try fields.edit("type")
        status = try fields.edit("status")
        custom = try fields.edit(object: "custom", merging: merging)
        metadata = try fields.edit(texts: "metadata", merging: merging)
        autoAcceptsInvites = try fields.edit(flag: "auto_accepts_invites")
    }
}
