import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addMemberRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(.get, "/v1/channels/{channel}/members", handler: asCaller(getMembers))
        router.add(.get, "/v1/channels/{channel}/members/{user}", handler: asCaller(getMember))
        router.add(
            .put, "/v1/channels/{channel}/members/{user}", body: body,
            handler: asCaller(
                returning(
                    MembershipEdit.members, remedies: Self.memberRemedies, from: getMember, to: putMember)))
        router.add(
            .patch, "/v1/channels/{channel}/members/{user}", body: body,
            handler: asCaller(
                returning(
                    MembershipEdit.members, remedies: Self.memberRemedies, from: getMember, to: patchMember)))
        router.add(.delete, "/v1/channels/{channel}/members/{user}", handler: asCaller(deleteMember))
        router.add(
            .put, "/v1/channels/{channel}/members/{user}/hidden", body: body,
            handler: asCaller(Self.unconditional(putHidden)))
        router.add(
            .delete, "/v1/channels/{channel}/members/{user}/hidden", handler: asCaller(Self.unconditional(deleteHidden))
        )
    }

    /// `GET /v1/channels/{channel}/members`: returns a page of the memberships of a channel.
    private func getMembers(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try RecordListing(request, limits: limits)
        let page = try await chat(for: caller, request).members(of: request.name("channel"), listing.list)
        return Listing.response(page, to: request) { $0.show(to: caller, &$1) }
    }

    /// `GET /v1/channels/{channel}/members/{user}`: returns a membership, or 404 when the user is not a member.
    private func getMember(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let chat = try chat(for: caller, request)
        guard let membership = try await chat.member(request.name("user"), of: request.name("channel")) else {
            throw ChatError(
                .notFound, "user '\(request.name("user"))' is not a member of channel '\(request.name("channel"))'",
                slug: "no_such_member")
        }
        return Self.response(membership, to: caller).unlessKnown(EntityTag.quoted(membership.etag), to: request.headers)
    }

    /// `PUT /v1/channels/{channel}/members/{user}`: makes a user a member of a channel: the user joins, accepts an
    /// invitation, or is added by another user.
    private func putMember(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: MembershipEdit.members)
        let edit = try MembershipEdit(fields, replacing: true)
        let (chat, channel, user) = (try chat(for: caller, request), request.name("channel"), request.name("user"))
        let precondition = try await Self.precondition(of: request) { try await chat.member(user, of: channel)?.etag }
        let actor = try fields.actor()
        let written = try await Self.meeting(precondition) { () async throws(ChatError) in
            try await chat.join(user, to: channel, edit, precondition: precondition, by: actor)
        }
        return Self.response(written.record, to: caller, createdAt: written.isNew ? request.path : nil)
    }

    /// `PATCH /v1/channels/{channel}/members/{user}`: changes a membership and returns it.
    private func patchMember(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: MembershipEdit.members)
        let (chat, channel, user) = (try chat(for: caller, request), request.name("channel"), request.name("user"))
        let etag = try await Precondition(request.headers).etag {
            try await chat.member(user, of: channel)?.etag ?? ""
        }
        let membership = try await chat.update(
            memberOf: channel, user, try MembershipEdit(fields, merging: true), precondition: etag,
            by: try fields.actor())
        return Self.response(membership, to: caller)
    }

    /// `DELETE /v1/channels/{channel}/members/{user}`: ends a membership: the user leaves, or is removed by another
    /// user.
    private func deleteMember(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter, "reason"])
        let (chat, channel, user) = (try chat(for: caller, request), request.name("channel"), request.name("user"))
        let precondition = try await Precondition(request.headers).precondition {
            try await chat.member(user, of: channel)?.etag
        }
        let wasThere = try await chat.leave(
            user, from: channel, reason: try parameters.text("reason"), precondition: precondition,
            by: try parameters.actor())
        return try Self.removed(
            wasThere, "user '\(user)' is not a member of channel '\(channel)'", slug: "no_such_member")
    }

    /// `PUT /v1/channels/{channel}/members/{user}/hidden`: hides a channel in the user's list of channels. Returns the
    /// membership.
    private func putHidden(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(
            request, known: ["hide_previous_messages", "allow_auto_unhide", ActorName.parameter])
        let membership = try await chat(for: caller, request).hide(
            request.name("channel"), for: request.name("user"),
            hidesHistory: try fields?.boolean("hide_previous_messages") ?? false,
            endsWithMessage: try fields?.boolean("allow_auto_unhide") ?? true,
            by: try fields?.actor())
        return Self.response(membership, to: caller)
    }

    /// `DELETE /v1/channels/{channel}/members/{user}/hidden`: shows a hidden channel in the user's list again. Returns
    /// no content.
    private func deleteHidden(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter])
        _ = try await chat(for: caller, request).unhide(
            request.name("channel"), for: request.name("user"), by: try parameters.actor())
        return .empty()
    }

    static func response(
        _ membership: MembershipRecord, to caller: Caller, createdAt location: String? = nil
    ) -> Response {
        response(etag: membership.etag, createdAt: location) { membership.show(to: caller, &$0) }
    }
}

extension MembershipEdit {
    static let members = ["type", "status", "custom", "push", "role", ActorName.parameter]

    /// Parses a change of a membership.
    ///
    /// - Parameters:
    ///   - replacing: true to clear the fields whose members are absent. The role is never cleared: if it is absent,
    ///     the operators of the channel determine the role.
    ///   - merging: true to merge `custom` into the current value, as by a merge patch.
    init(_ fields: Fields, replacing: Bool = false, merging: Bool = false) throws(ChatError) {
        self.init()
        type = try fields.edit("type", replacing: replacing)
        status = try fields.edit("status", replacing: replacing)
        custom = try fields.edit(object: "custom", replacing: replacing, merging: merging)
        if fields.has("push") || replacing { push = FieldEdit(try fields.word("push", PushPreference.self)) }
        role = try fields.word("role", MemberRole.self)
    }
}
