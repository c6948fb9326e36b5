import ChatCore
import ChatModel
import HTTPServer
import JSON

extension PubNubAPI {
    /// `DELETE /v3/history/sub-key/{s}/channel/{c}`: removes what lies after `start` up to `end`; without them, all.
    func deleteHistory(_ request: WireRequest) async throws -> Response {
        let keyset = try Keyset(request.segment(3), service)
        let channels = try readable(try request.names(5))
        guard channels.count == 1 else { throw WireError.unreadable }
        var start = try request.timetoken("start") ?? .zero
        var end = try request.timetoken("end") ?? .distantFuture
        if start > end { swap(&start, &end) }
        _ = try await chat(keyset, for: request).deleteEvents(after: start, before: end.after, in: channels[0])
        await note("events.delete", request, keyset, resource: channels[0])
        return .wire { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.member("error", false)
            writer.member("error_message", "")
            writer.endObject()
        }
    }
}
