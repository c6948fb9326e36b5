import ChatKit
public import ChatModel
import GatewayClient
import JSON

extension GatewayBackend {
    public func restrict(
        _ user: String, in channel: String, ban: Bool, mute: Bool, reason: String?, until: Timetoken?
    ) async throws(ChatError) {
        let path = RequestPath("channels", channel, "restrictions", user)
        guard ban || mute else {
            try await remove(by(path))
            return
        }
        let body = body { writer in
            writer.member("ban", ban)
            writer.member("mute", mute)
            if let reason { writer.member("reason", reason) }
            if let until { writer.member("until", until.timestamp) }
        }
        _ = try await send(Call("PUT", path, body: body))
    }

    public func restriction(of user: String, in channel: String) async throws(ChatError) -> RestrictionRecord? {
        try await found(Call("GET", RequestPath("channels", channel, "restrictions", user)))?.restriction
    }

    public func restrictions(
        in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<RestrictionRecord> {
        try await page(RequestPath("channels", channel, "restrictions"), limit, cursor) {
            object throws(ChatError) in try object.restriction
        }
    }

    public func restrictions(
        of user: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<RestrictionRecord> {
        try await page(RequestPath("users", user, "restrictions"), limit, cursor) { object throws(ChatError) in
            try object.restriction
        }
    }

    public func freeze(_ channel: String, _ isFrozen: Bool) async throws(ChatError) {
        _ = try await send(call(isFrozen ? "PUT" : "DELETE", RequestPath("channels", channel, "freeze")))
    }

    public func appoint(_ user: String, in channel: String, _ role: MemberRole) async throws(ChatError) {
        let path = RequestPath("channels", channel, "operators", user)
        _ = try await send(call(role == .operator ? "PUT" : "DELETE", path))
    }

    public func block(_ user: String) async throws(ChatError) {
        _ = try await send(call("PUT", RequestPath("users", self.user, "blocks", user)))
    }

    public func unblock(_ user: String) async throws(ChatError) {
        try await remove(by(RequestPath("users", self.user, "blocks", user)))
    }

    public func blocks(limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        try await page(RequestPath("users", user, "blocks"), limit, cursor) { object throws(ChatError) in
            try object.text("blocked")
        }
    }
}
