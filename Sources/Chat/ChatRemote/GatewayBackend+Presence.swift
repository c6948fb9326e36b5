public import ChatKit
public import ChatModel
import GatewayClient
import JSON

extension GatewayBackend {
    public func setTyping(_ isTyping: Bool, in channel: String) async throws(ChatError) {
        _ = try await send(Call(isTyping ? "PUT" : "DELETE", RequestPath("channels", channel, "typing", user)))
    }

    public func typists(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        try await page(RequestPath("channels", channel, "typing"), limit, cursor) { object throws(ChatError) in
            try object.text("id")
        }
    }

    public func appear(in channel: String, for seconds: Int?, state: AnyJSON?) async throws(ChatError) {
        let body = JSONText { writer in
            writer.beginObject()
            if let seconds { writer.member("ttl_seconds", seconds) }
            if let state { writer.member("state", state.text) }
            writer.endObject()
        }
        _ = try await send(Call("PUT", RequestPath("channels", channel, "presence", user), body: body))
    }

    public func disappear(from channel: String) async throws(ChatError) {
        _ = try await send(Call("DELETE", RequestPath("channels", channel, "presence", user)))
    }

    public func show(_ state: AnyJSON, in channel: String) async throws(ChatError) {
        let path = RequestPath("channels", channel, "presence", user, "state")
        _ = try await send(Call("PUT", path, body: state.text))
    }

    public func present(in channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<PresentUser> {
        try await page(RequestPath("channels", channel, "presence"), limit, cursor) { object throws(ChatError) in
            try object.presentUser
        }
    }

    public func presence(of user: String, in channel: String) async throws(ChatError) -> PresentUser? {
        try await found(Call("GET", RequestPath("channels", channel, "presence", user)))?.presentUser
    }

    public func presentChannels(of user: String) async throws(ChatError) -> [String] {
        var channels: [String] = []
        var cursor: String?
        repeat {
            let part = try await page(RequestPath("users", user, "presence"), 250, cursor) {
                object throws(ChatError) in try object.text("channel")
            }
            channels += part.items
            cursor = part.cursor
        } while cursor != nil
        return channels
    }

    public func enter(_ channel: String) async throws(ChatError) -> Int {
        let answer = try await send(Call("PUT", RequestPath("channels", channel, "participants", user)))
        return try answer.count("participant_count")
    }

    public func exit(_ channel: String) async throws(ChatError) {
        _ = try await send(Call("DELETE", RequestPath("channels", channel, "participants", user)))
    }

    public func participants(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        try await page(RequestPath("channels", channel, "participants"), limit, cursor) { object throws(ChatError) in
            try object.text("user")
        }
    }
}

extension ResponseObject {
    fileprivate var presentUser: PresentUser {
        get throws(ChatError) {
            let state = text.rawMember("state").map { AnyJSON($0) } ?? .null
            return PresentUser(userId: try self.text("user"), state: state == .null ? .object([:]) : state)
        }
    }
}
