import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    func addReceiptRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(
            .put, "/v1/channels/{channel}/members/{user}/read", body: body,
            handler: asCaller(Self.unconditional(putRead)))
        router.add(
            .put, "/v1/channels/{channel}/members/{user}/delivered", body: body,
            handler: asCaller(Self.unconditional(putDelivered)))
        router.add(.get, "/v1/channels/{channel}/members/{user}/unread", handler: asCaller(getChannelUnread))
        router.add(.get, "/v1/users/{user}/unread", handler: asCaller(getUnread))
        router.add(.post, "/v1/users/{user}/read-all", body: body, handler: asCaller(postReadAll))
    }

    /// `PUT /v1/channels/{channel}/members/{user}/read`: moves a member's read mark. Returns both marks of the member.
    private func putRead(_ request: Request, _ caller: Caller) async throws -> Response {
        try await mark(.read, request, caller)
    }

    /// `PUT /v1/channels/{channel}/members/{user}/delivered`: moves a member's delivery mark. Returns both marks of the
    /// member.
    private func putDelivered(_ request: Request, _ caller: Caller) async throws -> Response {
        try await mark(.delivered, request, caller)
    }

    private func mark(_ kind: ReceiptKind, _ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["timetoken", ActorName.parameter])
        let membership = try await chat(for: caller, request).mark(
            kind, request.name("user"), in: request.name("channel"), at: try fields?.position("timetoken"),
            by: try fields?.actor())
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("user", membership.user)
            writer.member("channel", membership.channel)
            writer.member("read_timetoken", mark: membership.read)
            writer.member("delivered_timetoken", mark: membership.delivered)
            writer.endObject()
        }
        return .json(body.bytes, headers: [("ETag", EntityTag.quoted(membership.etag))])
    }

    /// `GET /v1/channels/{channel}/members/{user}/unread`: returns the number of a user's unread messages in a channel.
    private func getChannelUnread(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let unread = try await chat(for: caller, request).unread(of: request.name("user"), in: request.name("channel"))
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("unread_count", unread)
            writer.endObject()
        }
        return .json(body.bytes)
    }

    /// `GET /v1/users/{user}/unread`: returns the number of a user's unread messages, in total and by custom type.
    private func getUnread(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let unread = try await chat(for: caller, request).unread(of: request.name("user"))
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("unread_count", unread.total)
            writer.key("by_custom_type")
            writer.beginObject()
            for (type, count) in unread.byCustomType.sorted(by: { $0.key < $1.key }) {
                writer.key(text: type)
                writer.integer(count)
            }
            writer.endObject()
            writer.endObject()
        }
        return .json(body.bytes)
    }

    /// `POST /v1/users/{user}/read-all`: marks all messages as read in the given channels, or in all of the user's
    /// channels. Returns the channels whose read mark moved.
    private func postReadAll(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["channels", ActorName.parameter])
        let channels = try fields?.strings("channels", count: 1...limits.streamChannels)
        let moved = try await chat(for: caller, request).markAllRead(
            by: request.name("user"), in: channels, named: try fields?.actor())
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("channels", moved)
            writer.endObject()
        }
        return .json(body.bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, mark: Timetoken) {
        if mark == .zero { nullMember(name) } else { member(name, mark.description) }
    }
}
