import ChatCore
import ChatModel
import HTTPServer
import InboundHooks
import JSON
import Locking
import Webhooks

extension NativeAPI {
    /// `GET /v1/events/{id}/explain`: explains how the gateway processed an event, and lists the recipients.
    ///
    /// Deliveries are stored longer than events that are transient, expired or deleted. The response for such an event
    /// contains the data that its deliveries still have.
    func getExplanation(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        // The scope is checked before the event is looked up, because the response contains webhooks of other callers.
        try caller.require(.manage)
        let timetoken = try Timetoken(ofNamed: "event", request.name("id"))
        do throws(ChatError) {
            let event = try await service.chat(for: caller).event(timetoken)
            let deliveries = try await deliveries(of: timetoken, caller)
            return await explanation(of: event, deliveries, caller)
        } catch {
            guard error.code == .notFound else { throw error }
            let deliveries = try await deliveries(of: timetoken, caller)
            guard let first = deliveries.first else { throw error }
            return Self.explanation(of: first, deliveries)
        }
    }

    private func explanation(of event: Event, _ deliveries: [Delivery], _ caller: Caller) async -> Response {
        let reach = await reach(of: event, for: caller)
        let validation = await validation(of: event, caller)
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.member("event", event.id)
        writer.member("kept", true)
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
        Self.print(deliveries, to: &writer)
        Self.printFates(reach.webhooks ?? [], deliveries, to: &writer)
        writer.endObject()
        return .json(writer.bytes)
    }

    /// The explanation of an event that is no longer stored. It lists the event's deliveries, but not its current
    /// recipients.
    private static func explanation(of first: Delivery, _ deliveries: [Delivery]) -> Response {
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.member("event", first.event.eventID)
        writer.member("kept", false)
        writer.member("type", first.type)
        writer.nullMember("schema")
        writer.nullMember("origin")
        writer.nullMember("validation")
        Recipients(webhooks: []).print(to: &writer)
        print(deliveries, to: &writer)
        writer.key("webhooks")
        writer.beginArray()
        for delivery in deliveries {
            print(
                delivery.subscriber.name, isMatch: true, "the event was sent to this webhook, and is no longer stored",
                delivery, to: &writer)
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes)
    }

    private static func print(_ deliveries: [Delivery], to writer: inout JSONWriter) {
        writer.key("deliveries")
        writer.beginArray()
        for delivery in deliveries { delivery.print(to: &writer) }
        writer.endArray()
    }

    /// Returns all deliveries of an event, without the limit of a page. A webhook whose delivery is missing in the list
    /// would seem to have received nothing.
    private func deliveries(of event: Timetoken, _ caller: Caller) async throws(ChatError) -> [Delivery] {
        var deliveries: [Delivery] = []
        var cursor: String?
        repeat {
            var query = Deliveries.Query(RecordList(limit: limits.pageMost, cursor: cursor))
            query.event = event
            let page = try await webhooks.deliveries.list(query, by: caller)
            deliveries += page.items
            cursor = page.cursor
        } while cursor != nil
        return deliveries
    }

    /// Prints, for every webhook and subscription, whether it receives the event and why, and the state of its
    /// delivery. Deliveries to removed webhooks come last.
    private static func printFates(
        _ matches: [WebhookMatch], _ deliveries: [Delivery], to writer: inout JSONWriter
    ) {
        var rest: [String: Delivery] = [:]
        for delivery in deliveries { rest[delivery.subscriber.name] = delivery }
        writer.key("webhooks")
        writer.beginArray()
        for match in matches {
            let delivery = rest.removeValue(forKey: match.webhook)
            let why =
                delivery == nil || match.matches
                ? match.why : "the event matched the webhook's settings when the delivery was created"
            print(match.webhook, isMatch: delivery != nil || match.matches, why, delivery, to: &writer)
        }
        for (webhook, delivery) in rest.sorted(by: { $0.key < $1.key }) {
            print(webhook, isMatch: false, "the webhook was deleted", delivery, to: &writer)
        }
        writer.endArray()
    }

    private static func print(
        _ webhook: String, isMatch: Bool, _ why: String, _ delivery: Delivery?, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.member("webhook", webhook)
        writer.member("match", isMatch)
        writer.member("why", why)
        writer.key("delivery")
        if let delivery { delivery.print(to: &writer) } else { writer.null() }
        writer.endObject()
    }

    /// The result of validating an event against the newest schema of its type, as JSON. The event may have been
    /// accepted under an earlier version.
    private func validation(of event: Event, _ caller: Caller) async -> JSONText {
        await asLongWork {
            do throws(ChatError) {
                let validation = try await service.chat(for: caller).validate(event.data, as: event.type)
                return JSONText(capacity: 512) { validation.print(to: &$0) }
            } catch {
                guard error.code != .notFound else { return .null }
                return JSONText { error.printAsValidation(of: event.type, to: &$0) }
            }
        }
    }

    /// Reads the event with an id.
    ///
    /// - Parameter id: the event's id or its timetoken.
    /// - Throws: `.notFound` when there is no such event, or when the text is neither an id nor a timetoken.
    func event(named id: String, _ caller: Caller) async throws(ChatError) -> Event {
        try await service.chat(for: caller).event(try Timetoken(ofNamed: "event", id))
    }
}

extension ChatError {
    /// Prints, in the form of a validation result, the reason why a payload could not be validated.
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
