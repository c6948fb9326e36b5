public import ChatKit
public import ChatModel
import JSON

extension GatewayBackend {
    public func mark(
        _ mark: ReceiptMark, of user: String, in channel: String, at timetoken: Timetoken?
    ) async throws(ChatError) {
        let word =
            switch mark {
            case .delivered: "delivered"
            case .read: "read"
            }
        let body = body { writer in if let timetoken { writer.member("timetoken", timetoken.description) } }
        _ = try await send(Call("PUT", RequestPath("channels", channel, "members", user, word), body: body))
    }

    public func markAllRead() async throws(ChatError) -> [String] {
        var call = Call("POST", RequestPath("users", user, "read-all"), body: body { _ in })
        call.isHarmless = true
        return (try await send(call)["channels"]?.elements ?? []).compactMap(\.string)
    }

    public func unread(of user: String, in channel: String) async throws(ChatError) -> Int {
        let path = RequestPath("channels", channel, "members", user, "unread")
        return try await send(Call("GET", path)).count("unread_count")
    }

    public func unread() async throws(ChatError) -> UnreadCount {
        let answer = try await send(Call("GET", RequestPath("users", user, "unread")))
        return UnreadCount(total: try answer.count("unread_count"), byCustomType: answer.counts("by_custom_type"))
    }
}
