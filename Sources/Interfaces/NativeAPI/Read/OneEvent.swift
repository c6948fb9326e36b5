import ChatKit
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `GET /v1/events/{id}`. An event never changes, so its tag holds for ever.
    func getEvent(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        guard let timetoken = Timetoken(eventID: request.name("id")) else {
            throw ChatError(.notFound, "no such event")
        }
        let envelope = try await service.chat(for: caller).event(timetoken).envelope
        let tag = EntityTag.of(envelope.bytes)
        let headers = [("ETag", tag), ("Cache-Control", "private, no-cache")]
        if EntityTag.isKnown(tag, to: request.headers) { return .empty(status: 304, headers: headers) }
        return .json(envelope.bytes, headers: headers)
    }
}
