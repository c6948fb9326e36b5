public import ChatKit
public import ChatModel
import GatewayClient
import JSON

extension GatewayBackend {
    public func metadata(of channel: String) async throws(ChatError) -> [String: String] {
        try await send(Call("GET", RequestPath("channels", channel, "metadata"))).texts("metadata")
    }

    public func create(metadata: [String: String], of channel: String) async throws(ChatError) -> [String: String] {
        let body = body { $0.member("metadata", metadata.json.text) }
        return try await send(Call("POST", RequestPath("channels", channel, "metadata"), body: body))
            .texts("metadata")
    }

    public func update(
        metadata: [String: String], adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: String] {
        let body = body { writer in
            writer.member("metadata", metadata.json.text)
            writer.member("upsert", adding)
        }
        var call = Call("PATCH", RequestPath("channels", channel, "metadata"), body: body)
        // Setting the same texts again changes nothing, so the request can be repeated.
        call.isHarmless = true
        return try await send(call).texts("metadata")
    }

    public func delete(metadata key: String?, of channel: String) async throws(ChatError) {
        let path = RequestPath(["channels", channel, "metadata"] + (key.map { [$0] } ?? []))
        try await remove(by(path))
    }

    public func counters(of channel: String) async throws(ChatError) -> [String: Int] {
        try await send(Call("GET", RequestPath("channels", channel, "metacounters"))).counts("metacounters")
    }

    public func create(counters: [String: Int], of channel: String) async throws(ChatError) -> [String: Int] {
        let body = body { $0.member("metacounters", counters.json.text) }
        return try await send(Call("POST", RequestPath("channels", channel, "metacounters"), body: body))
            .counts("metacounters")
    }

    public func update(
        counters: [String: Int], _ change: CounterChange, adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: Int] {
        let counters = change == .decrease ? counters.mapValues { 0 &- $0 } : counters
        let body = body { writer in
            writer.member("metacounters", counters.json.text)
            writer.member("upsert", adding)
        }
        if change == .set {
            return try await send(Call("PATCH", RequestPath("channels", channel, "metacounters"), body: body))
                .counts("metacounters")
        }
        var call = Call("POST", RequestPath("channels", channel, "increment-metacounters"), body: body)
        call.idempotencyKey = Call.newIdempotencyKey()
        return try await send(call).counts("metacounters")
    }

    public func delete(counter key: String?, of channel: String) async throws(ChatError) {
        let path = RequestPath(["channels", channel, "metacounters"] + (key.map { [$0] } ?? []))
        try await remove(by(path))
    }
}
