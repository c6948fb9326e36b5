import ChatCore
import ChatModel
import HTTPServer
import InboundHooks
import JSON
import Webhooks

extension NativeAPI {
    /// `GET /v1/events/{id}/explain`: what the gateway made of an event, and who is told of one like it now.
    func getExplanation(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        // Before the event is looked for: it shows other people's webhooks.
        try caller.demand(.manage)
        let event = try await event(named: request.name("id"), caller)
        let deliveries = try await deliveries(of: event, caller)
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
        writer.key("origin")
        if let origin = event.draft.cause.flatMap({ InboundOrigin(cause: $0) }) {
            writer.beginObject()
            writer.member("kind", "source")
            writer.member("source", origin.source)
            writer.member("request", origin.request)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.member("validation", validation)
        reach.print(to: &writer)
        writer.key("deliveries")
        writer.beginArray()
        for delivery in deliveries { delivery.print(to: &writer) }
        writer.endArray()
        Self.printFates(reach.webhooks ?? [], deliveries, to: &writer)
        writer.endObject()
        return .json(writer.bytes)
    }

    /// All of them: a webhook that a page left out would seem to have been told nothing.
    private func deliveries(of event: Event, _ caller: Caller) async throws -> [Delivery] {
        var deliveries: [Delivery] = []
        var cursor: String?
        repeat {
            let page = try await webhooks.deliveries.list(
                event: event.timetoken, limit: limits.pageMost, cursor: cursor, by: caller)
            deliveries += page.items
            cursor = page.cursor
        } while cursor != nil
        return deliveries
    }

    /// For every webhook and subscription whether it is told of such an event, why or why not, and what became of this one.
    /// Deliveries to those that are no more stand at the end.
    private static func printFates(
        _ matches: [WebhookMatch], _ deliveries: [Delivery], to writer: inout JSONWriter
    ) {
        var rest: [String: Delivery] = [:]
        for delivery in deliveries { rest[delivery.endpoint.name] = delivery }
        writer.key("webhooks")
        writer.beginArray()
        for match in matches {
            print(match.webhook, match, rest.removeValue(forKey: match.webhook), to: &writer)
        }
        for (webhook, delivery) in rest.sorted(by: { $0.key < $1.key }) { print(webhook, nil, delivery, to: &writer) }
        writer.endArray()
    }

    private static func print(
        _ webhook: String, _ match: WebhookMatch?, _ delivery: Delivery?, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.member("webhook", webhook)
        writer.member("match", match?.matches ?? false)
        writer.member("why", match?.why ?? "it is no more")
        writer.key("delivery")
        if let delivery { delivery.print(to: &writer) } else { writer.null() }
        writer.endObject()
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
