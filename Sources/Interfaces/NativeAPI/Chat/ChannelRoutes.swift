import ChatCore
import ChatModel
import HTTPServer
import JSON
import Text

extension NativeAPI {
    func addChannelRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(.get, "/v1/channels", handler: asCaller(getChannels))
        router.add(.post, "/v1/channels", body: body, handler: asCaller(postChannel))
        router.add(.get, "/v1/channels/{channel}", handler: asCaller(getChannel))
        router.add(
            .put, "/v1/channels/{channel}", body: body,
            handler: asCaller(
                returning(
                    ChannelEdit.members + ["kind"], remedies: Self.channelRemedies, from: getChannel, to: putChannel)))
        let kind = ["kind": "use PUT /v1/channels/{channel}"]
        router.add(
            .patch, "/v1/channels/{channel}", body: body,
            handler: asCaller(
                returning(
                    ChannelEdit.members, remedies: Self.channelRemedies.merging(kind) { $1 }, from: getChannel,
                    to: patchChannel)))
        router.add(.delete, "/v1/channels/{channel}", handler: asCaller(deleteChannel))
        router.add(
            .put, "/v1/channels/{channel}/operators/{user}", body: body,
            handler: asCaller(Self.unconditional(putOperator)))
        router.add(
            .delete, "/v1/channels/{channel}/operators/{user}", handler: asCaller(Self.unconditional(deleteOperator)))
    }

    /// `GET /v1/channels`: returns a page of the app's channel records.
    private func getChannels(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try RecordListing(request, limits: limits)
        let page = try await chat(for: caller, request).channels(listing.list)
        return Listing.response(page, to: request) { $0.show(to: &$1) }
    }

    /// `POST /v1/channels`: creates a channel and returns its record with status 201. Returns an existing direct or
    /// distinct channel with status 200.
    private func postChannel(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(
            request.body.bytes, limits: limits, known: ChannelEdit.members + ["id", "kind", "users", "distinct"])
        let id = try fields.string("id")
        if let id {
            do throws(ChatError) { try Names.check(channel: id) } catch {
                throw fields.fault("id", "format", error.message)
            }
        }
        var new = NewChannel(
            kind: try fields.required("kind", try fields.word("kind", ChannelKind.self)), id: id)
        new.users = try fields.strings("users") ?? []
        new.isDistinct = try fields.boolean("distinct") ?? false
        new.edit = try ChannelEdit(fields)
        let made = try await chat(for: caller, request).make(new, by: try fields.actor())
        let location = "/v1/channels/" + PercentEncoding.encode(made.record.channel.id)
        return Self.response(made.record, createdAt: made.isNew ? location : nil)
    }

    /// `GET /v1/channels/{channel}`: returns a channel's record with its current counts. The response is never a 304,
    /// because the counts can change while the record's version stays the same.
    private func getChannel(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        guard let view = try await chat(for: caller, request).channelView(request.name("channel")) else {
            throw ChatError(.notFound, "channel '\(request.name("channel"))' has no record")
        }
        return Self.response(view).unlessKnown(version: view.channel.etag, to: request.headers)
    }

    /// `PUT /v1/channels/{channel}`: creates the channel's record, or replaces its writable members. Returns the record
    /// with status 201 or 200.
    private func putChannel(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: ChannelEdit.members + ["kind"])
        let kind = try fields.required("kind", try fields.word("kind", ChannelKind.self))
        let (chat, edit) = (try chat(for: caller, request), try ChannelEdit(fields))
        let by = try fields.actor()
        let precondition = try await channelPrecondition(request, chat)
        let written = try await Self.meeting(precondition) { () throws(ChatError) in
            try await chat.put(channel: request.name("channel"), kind: kind, edit, precondition: precondition, by: by)
        }
        return Self.response(written.record, createdAt: written.isNew ? request.path : nil)
    }

    /// `PATCH /v1/channels/{channel}`: changes a channel's record and returns the record.
    private func patchChannel(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: ChannelEdit.members)
        let chat = try chat(for: caller, request)
        let view = try await chat.update(
            channel: request.name("channel"), try ChannelEdit(fields, merging: true),
            precondition: try await channelPrecondition(request, chat), by: try fields.actor())
        return Self.response(view)
    }

    /// `DELETE /v1/channels/{channel}`: removes a channel. Returns no content, or 404 when the channel has no record.
    private func deleteChannel(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter])
        let chat = try chat(for: caller, request)
        let wasThere = try await chat.delete(
            channel: request.name("channel"), precondition: try await channelPrecondition(request, chat),
            by: try parameters.actor())
        return try Self.removed(wasThere, "channel '\(request.name("channel"))' has no record")
    }

    /// `PUT /v1/channels/{channel}/operators/{user}`: makes a user an operator of a channel. Returns the channel's
    /// record.
    private func putOperator(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: [ActorName.parameter])
        let view = try await chat(for: caller, request).appoint(
            request.name("user"), in: request.name("channel"), .operator, by: try fields?.actor())
        return Self.response(view)
    }

    /// `DELETE /v1/channels/{channel}/operators/{user}`: makes an operator of a channel an ordinary member. Returns no
    /// content.
    private func deleteOperator(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [ActorName.parameter])
        _ = try await chat(for: caller, request).appoint(
            request.name("user"), in: request.name("channel"), .member, by: try parameters.actor())
        return .empty()
    }

    private static func response(_ view: ChannelView, createdAt location: String? = nil) -> Response {
        response(etag: view.channel.etag, createdAt: location) { view.show(to: &$0) }
    }

    private func channelPrecondition(_ request: Request, _ chat: ChatAccess) async throws -> RecordChange.Precondition {
        try await Self.precondition(of: request) { try await chat.channelView(request.name("channel"))?.channel.etag }
    }
}

extension ChannelEdit {
    static let members = [
        "name", "description", "custom_type", "cover_url", "type", "status", "data", "custom", ActorName.parameter,
    ]

    /// Parses a change of a channel record.
    ///
    /// - Parameter merging: true when `data` and `custom` are merged into the current values, as by a merge patch.
    init(_ fields: Fields, merging: Bool = false) throws(ChatError) {
        self.init()
        name = try fields.edit("name")
        description = try fields.edit("description")
        customType = try fields.edit("custom_type")
        coverURL = try fields.edit("cover_url")
        type = try fields.edit("type")
        status = try fields.edit("status")
        data = fields.edit(value: "data", merging: merging)
        custom = try fields.edit(object: "custom", merging: merging)
    }
}
