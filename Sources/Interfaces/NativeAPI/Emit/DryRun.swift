import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking
import Webhooks

/// The recipients of an event.
struct Recipients {
    /// All webhooks and whether they match; nil when the caller may not see the app's webhooks.
    var webhooks: [WebhookMatch]?
    var streams = 0

    /// Prints the recipients as the member `would_reach`.
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

/// The predicted result of emitting an event.
private struct DryRunResult {
    /// The type of the event; nil when the event could not be parsed.
    var type: String?
    var refusal: ChatError?
    /// The version of the schema against which the event was validated; nil when there is none.
    var version: JSONText?
    /// The violations of a schema that only warns.
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
    /// Prints the errors as the next values of an array. A rejection without a list of errors is printed as one error
    /// about the whole event.
    func printFaults(to writer: inout JSONWriter) {
        let whole =
            field.map { pointed(at: "#/" + $0).faults }
            ?? [FieldError(pointer: "#", keyword: slug ?? code.slug, detail: message)]
        for fault in faults.isEmpty ? whole : faults { fault.print(to: &writer) }
    }
}

extension NativeAPI {
    /// `POST /v1/events/validate`: predicts the result of `POST /v1/events` for the event in the body.
    func postValidation(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(
            request.body.bytes, limits: limits, known: ["channel"] + DraftParser.eventMembers)
        guard let channel = try fields.string("channel") else { throw fields.missing("member 'channel'") }
        let draft = try DraftParser.event(fields, channel: channel)
        return try await dryRun(EmitRequest(route: .anyChannel, drafts: [draft]), service.chat(for: caller))
    }

    /// Predicts the result of an emit and stores nothing. A request that cannot be parsed is rejected as usual. If the
    /// event would be rejected, the reasons are part of the result.
    func dryRun(_ emitRequest: EmitRequest, _ chat: ChatAccess) async throws -> Response {
        guard emitRequest.shape != .list else { return try await dryRun(emitRequest.drafts.map { .success($0) }, chat) }
        // Runs off the loop, because the filters of all webhooks of the app are evaluated on the event.
        return try await asLongWork {
            var work = ValidationBudget()
            let admitted = try await chat.prepare([.success(emitRequest.drafts[0])], within: &work).results[0]
            let dryRunResult = await dryRunResult(.success(emitRequest.drafts[0]), admitted, chat, within: &work)
            return .json(JSONText { dryRunResult.print(to: &$0) }.bytes)
        }
    }

    /// Predicts the results of emitting several events: `{"results": […]}`, in the order of the events.
    ///
    /// - Throws: `.tooLarge` when the response would explain more than `Limits.dryRunMatches` pairs of event and
    ///   webhook. The work and the size of the response grow with the number of pairs.
    func dryRun(_ drafts: [ParsedDraft], _ chat: ChatAccess) async throws -> Response {
        try await asLongWork {
            var matches = 0
            var work = ValidationBudget()
            let admitted = try await chat.prepare(drafts, within: &work).results
            var writer = JSONWriter(capacity: drafts.count * 160 + 32)
            writer.beginObject()
            writer.key("results")
            writer.beginArray()
            for (draft, admitted) in zip(drafts, admitted) {
                let dryRunResult = await dryRunResult(draft, admitted, chat, within: &work)
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
            "a dry run explains at most \(limits.dryRunMatches) pairs of event and webhook; send fewer events",
            slug: "too_many_events", limit: limits.dryRunMatches, field: "")
    }

    private func dryRunResult(
        _ read: ParsedDraft, _ admitted: Result<EventDraft, ChatError>, _ chat: ChatAccess,
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

    /// Validates an event whose type has a schema in mode `warn`. Returns nil when the type has another mode or is not
    /// declared, or when the validation cannot be completed.
    func warning(
        about draft: EventDraft, _ chat: ChatAccess, within work: inout ValidationBudget
    ) async -> Validation? {
        // A type that is not declared has no schema. This is not an error here.
        guard draft.schema == nil, let type = try? chat.eventType(draft.type), type.settings.mode == .warn else {
            return nil
        }
        return try? await chat.validate(draft.data, as: draft.type, within: &work)
    }

    /// The recipients that the event would have if it were emitted now.
    func reach(of draft: EventDraft, for caller: Caller) async -> Recipients {
        await reach(of: Event(timetoken: service.clock.now, draft: draft), for: caller)
    }

    /// The recipients of an event that already has a timetoken. Webhooks are included only if the caller may list them,
    /// so that other senders do not see the patterns and filters of webhooks.
    func reach(of event: Event, for caller: Caller) async -> Recipients {
        let sinks = await service.hub.sinks(receiving: event)
        // A feed counts as the number of its streams. Every other receiver counts as one client.
        let streams = sinks.reduce(0) { $0 + (($1 as? StreamFeed)?.streamCount ?? 1) }
        guard caller.scopes.allow(.manage) else { return Recipients(webhooks: nil, streams: streams) }
        // Runs off the loop, because the filter of each webhook may take up to `limits.filter_steps` steps.
        let matches = await asLongWork { webhooks.registry.explain(event, to: caller) }
        return Recipients(webhooks: matches, streams: streams)
    }
}
