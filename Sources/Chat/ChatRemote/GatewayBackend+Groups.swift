import ChatKit
public import ChatModel
import JSON

extension GatewayBackend {
    public func group(_ id: String) async throws(ChatError) -> GroupRecord? {
        try await found(Call("GET", RequestPath("channel-groups", id)))?.group
    }

    public func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        try await page(RequestPath("channel-groups"), limit, cursor) { object throws(ChatError) in
            try object.text("id")
        }
    }

    public func change(group id: String, adding: [String], removing: [String]) async throws(ChatError) {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("add", adding)
            writer.member("remove", removing)
            writer.endObject()
        }
        var call = Call("POST", RequestPath("channel-groups", id, "channels"), body: body)
        // What is in it stays in it once.
        call.isHarmless = true
        _ = try await send(call)
    }

    public func delete(group id: String) async throws(ChatError) {
        try await remove(RequestPath("channel-groups", id))
    }
}
