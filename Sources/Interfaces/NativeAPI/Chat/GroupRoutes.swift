import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addGroupRoutes(to router: inout Router) {
        // The limit admits the largest group, with a quoted name of the maximum length for every channel.
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes + limits.groupChannels * 260)
        router.add(.get, "/v1/channel-groups", handler: asCaller(getGroups))
        router.add(.get, "/v1/channel-groups/{group}", handler: asCaller(getGroup))
        let members = Self.groupMembers
        router.add(
            .put, "/v1/channel-groups/{group}", body: body,
            handler: asCaller(returning(members, from: getGroup, to: putGroup)))
        router.add(
            .patch, "/v1/channel-groups/{group}", body: body,
            handler: asCaller(returning(members, from: getGroup, to: patchGroup)))
        router.add(
            .post, "/v1/channel-groups/{group}/channels", body: body,
            handler: asCaller(postGroupChannels, isConditional: true))
        router.add(.delete, "/v1/channel-groups/{group}", handler: asCaller(deleteGroup))
    }

    /// `GET /v1/channel-groups`: returns a page of the app's channel groups, each with the number of its channels.
    private func getGroups(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let chat = try chat(for: caller, request)
        let page = try await chat.groups(listing.list)
        return Listing.response(page, to: request) { group, writer in
            writer.record(id: group.id, created: group.created, etag: group.etag, updated: group.updated) {
                $0.member("channel_count", group.channels.count)
            }
        }
    }

    /// `GET /v1/channel-groups/{group}`: returns a channel group with its channels, or 404 when the group does not
    /// exist.
    private func getGroup(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        guard let group = try await chat(for: caller, request).group(request.name("group")) else {
            throw Self.noGroup(request)
        }
        return Self.response(group).unlessKnown(EntityTag.quoted(group.etag), to: request.headers)
    }

    private static let groupMembers = ["channels"]

    /// `PUT /v1/channel-groups/{group}`: creates a channel group or replaces its channels. Returns the group with
    /// status 201 or 200.
    private func putGroup(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: Self.groupMembers)
        let channels = try fields.required("channels", try fields.strings("channels"))
        let chat = try chat(for: caller, request)
        let precondition = try await groupPrecondition(request, chat)
        let written = try await Self.meeting(precondition) { () throws(ChatError) in
            try await chat.write(group: request.name("group"), .replace(channels), precondition: precondition)
        }
        return Self.response(written.record, createdAt: written.isNew ? request.path : nil)
    }

    /// `PATCH /v1/channel-groups/{group}`: replaces the channels of an existing group if the body contains `channels`.
    /// Returns the group.
    private func patchGroup(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: Self.groupMembers)
        let edit: ChatAccess.GroupEdit =
            fields.has("channels")
            ? .replace(try fields.strings("channels") ?? []) : .change(adding: [], removing: [])
        let chat = try chat(for: caller, request)
        let written = try await chat.write(
            group: request.name("group"), edit, precondition: try await groupPrecondition(request, chat),
            isMaking: false)
        return Self.response(written.record)
    }

    /// `POST /v1/channel-groups/{group}/channels`: adds channels to a group and removes channels from it. Creates the
    /// group if it does not exist.
    private func postGroupChannels(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: ["add", "remove"])
        let edit = ChatAccess.GroupEdit.change(
            adding: try fields.strings("add") ?? [], removing: try fields.strings("remove") ?? [])
        let chat = try chat(for: caller, request)
        let written = try await chat.write(
            group: request.name("group"), edit, precondition: try await groupPrecondition(request, chat))
        return Self.response(written.record)
    }

    /// `DELETE /v1/channel-groups/{group}`: removes a channel group. Returns no content, or 404 when the group does not
    /// exist.
    private func deleteGroup(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let chat = try chat(for: caller, request)
        let wasThere = try await chat.delete(
            group: request.name("group"), precondition: try await groupPrecondition(request, chat))
        guard wasThere else { throw Self.noGroup(request) }
        return .empty()
    }

    private static func noGroup(_ request: Request) -> ChatError {
        ChatError(.notFound, "there is no channel group '\(request.name("group"))'")
    }

    private static func response(_ group: GroupRecord, createdAt location: String? = nil) -> Response {
        response(etag: group.etag, createdAt: location) { writer in
            writer.record(id: group.id, created: group.created, etag: group.etag, updated: group.updated) {
                group.printMembers(to: &$0)
            }
        }
    }

    private func groupPrecondition(_ request: Request, _ chat: ChatAccess) async throws -> RecordChange.Precondition {
        try await Self.precondition(of: request) { try await chat.group(request.name("group"))?.etag }
    }
}
