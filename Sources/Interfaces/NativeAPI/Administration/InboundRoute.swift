import ChatKit
import ChatModel
import HTTPServer
import InboundHooks
import JSON

extension NativeAPI {
    /// `POST /in/{source}`: a post of another service. Its signature is its credential.
    func postInbound(_ request: Request) async throws -> Response {
        let post = InboundPost(
            headers: request.headers.all, query: request.query.items.map { ($0.name, $0.value) },
            body: request.body.bytes, url: publicURL.isEmpty ? nil : publicURL + request.target)
        let receipt = try await inbound.gate.accept(post, for: request.name("source"))
        var writer = JSONWriter(capacity: 96 * receipt.events.count + 32)
        writer.beginObject()
        writer.member("accepted", receipt.events.count)
        writer.key("events")
        writer.beginArray()
        for appended in receipt.events {
            writer.beginObject()
            writer.member("id", appended.event.id)
            writer.member("timetoken", appended.event.timetoken.description)
            writer.member("duplicate", appended.isDuplicate)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes, status: 202)
    }
}
