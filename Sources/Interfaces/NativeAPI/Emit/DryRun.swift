import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking
import Webhooks

/// A sink of the hub that stands for several live streams, so that dry runs count streams and not feeds.
protocol StreamCounting: FeedSink {
    /// Streams open on it now.
    var streamCount: Int { get }
}

/// Who would be told of an event.
struct Recipients {
    /// Nil for a caller who may not see the app's webhooks.
    var webhooks: [WebhookMatch]?
    var streams = 0

    /// Prints it as the member `would_reach`.
    func print(to writer: inout JSONWriter) {
        writer.key("would_reach")
        writer.beginObject()
        if let webhooks {
            writer.key("webhooks")
            writer.beginArray()
            for match in webhooks {
                writer.beginObject()
                writer.member("id", match.webhook)
                writer.member("match", match.matches)
                writer.member("why", match.why)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.member("streams", streams)
        writer.endObject()
    }
}

/// What would become of an event.
private struct DryRunResult {
    /// Nil when the event could not be read.
    var type: String?
    var refusal: ChatError?
    /// The version of the schema that the event was held against; nil when there is none.
    var version: JSONText?
    /// What that schema has against an event which passes nevertheless.
    var warnings: [ChatError.FieldError] = []
    var reach = Recipients()

    func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("valid", refusal == nil)
        if let type { writer.member("type", type) } else { writer.nullMember("type") }
        writer.member("version", version ?? .null)
        writer.key("errors")
        writer.beginArray()
        refusal?.printFaults(to: &writer)
        for fault in warnings { fault.print(to: &writer) }
        writer.endArray()
        reach.print(to: &writer)
        writer.endObject()
    }
}

extension ChatError {
    /// Prints its faults as the next values of an array; a refusal without any is one about the whole event.
    func printFaults(to writer: inout JSONWriter) {
        let whole =
            field.map { pointed(at: "#/" + $0).faults }
            ?? [FieldError(pointer: "#", keyword: slug ?? code.slug, detail: message)]
        for fault in faults.isEmpty ? whole : faults { fault.print(to: &writer) }
    }
}

extension NativeAPI {
    /// `POST /v1/events/validate`: what `POST /v1/events` would do with the event of the body.
    func postValidation(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(
            request.body.bytes, limits: limits, known: ["channel"] + EmissionParser.eventMembers)
        guard let channel = try fields.string("channel") else { throw fields.missing("member 'channel'") }
        let emission = try EmissionParser.event(fields, channel: channel)
        return try await dryRun(EmitRequest(route: .anyChannel, emissions: [emission]), service.chat(for: caller))
    }

    /// Says what an emit would do, and stores nothing. A request that cannot be read is refused as ever; an event that
    /// would be refused is an answer.
    func dryRun(_ order: EmitRequest, _ chat: ChatAccess) async throws -> Response {
        guard order.shape == .one else { return try await dryRun(order.emissions.map { .success($0) }, chat) }
        // Every webhook of the app is asked about the event: a thousand filters are more than others should wait for.
        return try await asLongWork {
            var work = ValidationBudget()
            let admitted = try await chat.admit([.success(order.emissions[0])], within: &work)[0]
            let dryRunResult = await dryRunResult(.success(order.emissions[0]), admitted, chat, within: &work)
            return .json(JSONText { dryRunResult.print(to: &$0) }.bytes)
        }
    }

    /// The same for several events: `{"results": […]}`, in their places.
    ///
    /// - Throws: `.tooLarge` when that would explain more than `Limits.dryRunMatches` pairs of event and webhook: both
    ///   the work and the answer grow with their product.
    func dryRun(_ emissions: [ParsedEmission], _ chat: ChatAccess) async throws -> Response {
        try await asLongWork {
            var matches = 0
            var work = ValidationBudget()
            let admitted = try await chat.admit(emissions, within: &work)
            var writer = JSONWriter(capacity: emissions.count * 160 + 32)
            writer.beginObject()
            writer.key("results")
            writer.beginArray()
            for (emission, admitted) in zip(emissions, admitted) {
                let dryRunResult = await dryRunResult(emission, admitted, chat, within: &work)
                matches += dryRunResult.reach.webhooks?.count ?? 0
                guard matches <= limits.dryRunMatches else { throw tooManyMatches }
                try Task.checkCancellation()
                dryRunResult.print(to: &writer)
            }
            writer.endArray()
            writer.endObject()
            return .json(writer.bytes)
        }
    }

    private var tooManyMatches: ChatError {
        .over(
            .tooLarge,
            "a dry run tells of at most \(limits.dryRunMatches) pairs of event and webhook; ask for fewer events at once",
            slug: "too_many_events", limit: limits.dryRunMatches, field: "")
    }

    private func dryRunResult(
        _ read: ParsedEmission, _ admitted: Result<EventDraft, ChatError>, _ chat: ChatAccess,
        within work: inout ValidationBudget
    ) async -> DryRunResult {
        let draft: EventDraft
        do throws(ChatError) {
            draft = try admitted.get()
        } catch {
            let nobody = Recipients(webhooks: chat.caller.scopes.allow(.manage) ? [] : nil)
            let version = error.members.first { $0.name == "schema_version" }?.value
            return DryRunResult(type: try? read.get().type, refusal: error, version: version, reach: nobody)
        }
        let warning = await warning(about: draft, chat, within: &work)
        let version = draft.schema?.version ?? warning?.version
        return DryRunResult(
            type: draft.type, version: version.map { number in JSONText { $0.integer(number) } },
            warnings: warning?.faults ?? [], reach: await reach(of: draft, for: chat.caller))
    }

    /// What the schema of a type in mode `warn` has against an event; nil when it accepts it or does not look.
    func warning(
        about draft: EventDraft, _ chat: ChatAccess, within work: inout ValidationBudget
    ) async -> Validation? {
        // A type that is not declared has nothing to say, which is no error here.
        guard draft.schema == nil, let type = try? chat.eventType(draft.type), type.settings.mode == .warn else {
            return nil
        }
        return try? await chat.validate(draft.data, as: draft.type, within: &work)
    }

    /// Who would be told of the event if it came now.
    func reach(of draft: EventDraft, for caller: Caller) async -> Recipients {
        await reach(of: Event(timetoken: service.clock.now, draft: draft), for: caller)
    }

    /// Who is told of an event of its time. Webhooks are named only to those who may list them: patterns and filters of
    /// others are none of a mere sender's business.
    func reach(of event: Event, for caller: Caller) async -> Recipients {
        let sinks = await service.hub.reach(of: event)
        let streams = sinks.reduce(0) { $0 + (($1 as? any StreamCounting)?.streamCount ?? 1) }
        guard caller.scopes.allow(.manage) else { return Recipients(webhooks: nil, streams: streams) }
        // Each webhook's filter may take as long as `limits.filter_steps` allow.
        let matches = await asLongWork { webhooks.registry.explain(event, to: caller) }
        return Recipients(webhooks: matches, streams: streams)
    }
}
