import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `GET /v1/events/{id}`. An event never changes; its tag changes when its text is withheld.
    func getEvent(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let envelope = try await event(named: request.name("id"), caller).envelope
        let tag = EntityTag.of(envelope.bytes)
        let headers = [("ETag", tag), ("Cache-Control", "private, no-cache")]
        return .json(envelope.bytes, headers: headers).unlessKnown(tag, to: request.headers)
    }
}
