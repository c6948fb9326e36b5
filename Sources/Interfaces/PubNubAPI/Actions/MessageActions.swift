import ChatCore
import ChatModel
import HTTPServer
import JSON
import Text

/// Message action calls of the PubNub API.
extension PubNubAPI {
    func addActionRoutes(to router: inout Router) {
        let base = "/v1/message-actions/{s}/channel/{c}"
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let family = ErrorFamily.structured("actions")
        add(.get, RoutePattern(base), in: family, for: .channels(.read, at: 4, key: 2), to: &router, getActions)
        add(
            .post, RoutePattern(base + "/message/{mtt}"), body, in: family, for: .channels(.write, at: 4, key: 2),
            to: &router, postAction)
        add(
            .delete, RoutePattern(base + "/message/{mtt}/action/{att}"), body, in: family,
            for: .channels(.delete, at: 4, key: 2), to: &router, deleteAction)
    }

    private func postAction(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let (channel, message) = try Self.message(of: request)
        let user = try request.requireUser()
        let (type, value) = try action(in: request.body)
        do throws(ChatError) {
            let chat = chat(keyset, for: request, in: channel)
            let place = try await self.place(of: message, on: channel, chat)
            let action = try await chat.addAction(type, value, to: message, in: place, by: user, evenDeleted: true)
            return .structured { writer in
                writer.key("data")
                action.printOnWire(to: &writer)
            }
        } catch {
            switch error.code {
            case .conflict: throw WireError(status: 409, text: "Action Already Added")
            // This limit does not reset after some time. The error is therefore a 400, because some clients retry
            // endlessly after a 429.
            case .tooMany where error.retryAfter == nil: throw WireError(status: 400, text: error.message)
            default: throw WireError(error)
            }
        }
    }

    private func deleteAction(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let (channel, message) = try Self.message(of: request)
        guard let place = request.segment(8).flatMap({ Timetoken(wire: $0) }) else { throw WireError.unreadable }
        let user = try request.requireUser()
        let chat = chat(keyset, for: request, in: channel)
        let home = try await self.place(of: message, on: channel, chat)
        let action = try await chat.action(place, of: message, in: home)
        if let action {
            guard ExactText(action.user) == ExactText(user) else { throw WireError.foreignAction }
        }
        // The actions of a message are removed together with the message. Chat SDKs remove the message first. They then
        // remove the action that names the message's thread, which no longer exists at that time.
        if try await !chat.isRemoved(message, in: home) {
            guard action != nil else { throw WireError.noAction }
            do throws(ChatError) {
                try await chat.removeAction(place, from: message, in: home, by: user)
            } catch {
                throw error.code == .notFound ? WireError.noAction : WireError(error)
            }
        }
        return .structured { $0.member("data", JSONText.emptyObject) }
    }

    private func getActions(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let channel = try readable([request.segment(4) ?? ""])[0]
        let start = try request.timetoken("start")
        let end = try request.timetoken("end")
        guard let asked = Int(request["limit"] ?? "100"), asked >= 0 else { throw WireError.unreadable }
        let limit = asked == 0 ? 100 : min(asked, 100)
        let (actions, hasMore) = try await actions(
            on: channel, after: end?.before ?? .zero, before: start ?? .distantFuture, limit,
            chat(keyset, for: request))
        return .structured { writer in
            writer.key("data")
            writer.beginArray()
            for action in actions { action.printOnWire(to: &writer) }
            writer.endArray()
            guard hasMore, let first = actions.first?.timetoken.description else { return }
            let path = "/v1/message-actions/\(keyset.record.subscribeKey)/channel/\(PercentEncoding.encode(channel))"
            let bound = end.map { "&end=\($0)" } ?? ""
            writer.key("more")
            writer.beginObject()
            writer.member("url", "\(path)?start=\(first)\(bound)&limit=\(limit)")
            writer.member("start", first)
            if let end { writer.member("end", end.description) }
            writer.member("limit", limit)
            writer.endObject()
        }
    }

    private func chat(_ keyset: Keyset, for request: WireRequest, in channel: String) -> ChatAccess {
        service.chat(for: keyset.caller(of: request, in: channel), cause: request.request.id)
    }

    /// The channel that stores the message. A reply is stored in the channel of the message to which it replies.
    private func place(
        of message: Timetoken, on channel: String, _ chat: ChatAccess
    ) async throws(ChatError) -> String {
        guard let thread = MappedThread(channel) else { return channel }
        if try await chat.isReply(message, in: thread) { return thread.parent }
        return try await chat.isRemoved(message, in: thread) ? thread.parent : channel
    }

    /// The newest actions of a PubNub channel, in the order from the oldest to the newest.
    private func actions(
        on channel: String, after: Timetoken, before: Timetoken, _ limit: Int, _ chat: ChatAccess
    ) async throws(ChatError) -> (actions: [MessageActionRecord], hasMore: Bool) {
        let own = try await chat.actions(in: channel, after: after, before: before, limit: limit, thread: .none)
        guard let thread = MappedThread(channel) else { return own }
        let replies = try await chat.actions(
            in: thread.parent, after: after, before: before, limit: limit, thread: .of(thread.root))
        let all = (own.actions + replies.actions).sorted { $0.timetoken < $1.timetoken }
        return (all.suffix(limit), own.hasMore || replies.hasMore || all.count > limit)
    }

    // MARK: Reading

    private static func message(of request: WireRequest) throws -> (channel: String, message: Timetoken) {
        guard let channel = request.segment(4), let message = request.segment(6).flatMap({ Timetoken(wire: $0) }) else {
            throw WireError.unreadable
        }
        try Names.check(channel: channel)
        return (channel, message)
    }

    private func action(in body: [UInt8]) throws(WireError) -> (type: String, value: String) {
        guard let payload = WirePayload(body, depth: limits.jsonDepth) else { throw .notJSON }
        var missing: [WireError.Detail] = []
        func text(_ name: String) -> String {
            if let text = payload.value[name]?.string, !text.isEmpty { return text }
            missing.append(.init(message: "Missing field", location: name, kind: "body"))
            return ""
        }
        let (type, value) = (text("type"), text("value"))
        guard missing.isEmpty else { throw .invalidInput(missing) }
        return (type, value)
    }
}

extension MessageActionRecord {
    func printOnWire(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("messageTimetoken", message.description)
        writer.member("type", type)
        writer.member("value", value)
        writer.member("uuid", user)
        writer.member("actionTimetoken", timetoken.description)
        writer.endObject()
    }
}

extension WireError {
    static let notJSON = WireError(status: 415, text: "Request payload must be in JSON format.")
    static let noAction = WireError(status: 400, text: "No matching message actions to delete")
    static let foreignAction = WireError(
        status: 400, text: "Not deleting message action: wrong uuid specified")

    static func invalidInput(_ details: [Detail]) -> WireError {
        var error = WireError(status: 400, text: "Request payload contained invalid input.")
        error.details = details
        return error
    }
}

extension Response {
    /// A successful response of the objects and message actions API, with additional members.
    static func structured(_ print: (inout JSONWriter) -> Void) -> Response {
        .wire { writer in
            writer.beginObject()
            writer.member("status", 200)
            print(&writer)
            writer.endObject()
        }
    }
}
