import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `GET /v1/events/{id}`: returns a stored event. An event never changes, but the response and its entity tag
    /// change when the event's text is withheld or an included object changes.
    func getEvent(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: [Parameters.include])
        let chat = service.chat(for: caller)
        let inclusion = chat.inclusion(of: try parameters.included())
        let event = try await event(named: request.name("id"), caller)
        let included = try await chat.included(with: [event], inclusion)
        let shown = [event].shown(with: included)[0]
        let envelope = JSONText(capacity: event.weight + 160) { shown.print(to: &$0) }
        let tag = EntityTag.of(envelope.bytes)
        let headers = [("ETag", tag), ("Cache-Control", "private, no-cache")]
        return .json(envelope.bytes, headers: headers).unlessKnown(tag, to: request.headers)
    }
}
