import ChatKit
import ChatModel
import HTTPServer
import JSON
import Webhooks

extension NativeAPI {
    /// `GET /v1/events/{id}/explain`: what the gateway made of an event, and who is told of one like it now.
    func getExplanation(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        // Before the event is looked for: it shows other people's webhooks.
        try caller.demand(.manage)
        let event = try await event(named: request.name("id"), caller)
        let deliveries = try await webhooks.deliveries.list(event: event.timetoken, limit: limits.pageMost, by: caller)
        let reach = await reach(of: event.draft, for: caller)
        let validation = await validation(of: event, caller)
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.member("event", event.id)
        writer.member("type", event.type)
        if let schema = event.draft.schema {
            writer.key("schema")
            writer.beginObject()
            writer.member("type", schema.type)
            writer.member("version", schema.version)
            writer.endObject()
        } else {
            writer.nullMember("schema")
        }
        writer.member("validation", validation)
        reach.print(to: &writer)
        writer.key("deliveries")
        writer.beginArray()
        for delivery in deliveries.items { delivery.print(to: &writer) }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes)
    }

    /// What the newest schema of its type says of an event, as JSON: it may be another than the one that accepted it.
    private func validation(of event: Event, _ caller: Caller) async -> JSONText {
        await Self.awayFromTheLoop(if: true) {
            do throws(ChatError) {
                let validation = try await service.chat(for: caller).validate(event.data, as: event.type)
                return JSONText(capacity: 512) { validation.print(to: &$0) }
            } catch {
                guard error.code != .notFound else { return .null }
                return JSONText { error.printAsValidation(of: event.type, to: &$0) }
            }
        }
    }

    /// - Throws: `.notFound` for what is no event id as well: there is no such event either.
    func event(named id: String, _ caller: Caller) async throws(ChatError) -> Event {
        guard let timetoken = Timetoken(eventID: id) else { throw ChatError(.notFound, "no such event") }
        return try await service.chat(for: caller).event(timetoken)
    }
}

extension ChatError {
    /// Why a payload could not even be held against a schema, as the answer of a validation.
    fileprivate func printAsValidation(of type: String, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("valid", false)
        writer.member("type", type)
        writer.nullMember("version")
        writer.key("errors")
        writer.beginArray()
        printFaults(to: &writer)
        writer.endArray()
        writer.member("truncated", false)
        writer.endObject()
    }
}
