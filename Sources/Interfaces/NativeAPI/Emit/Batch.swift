import ChatKit
import ChatModel
import HTTPServer
import JSON

/// An event of a request as it could be read, or why it could not.
typealias ReadEmission = Result<Emission, ChatError>

extension NativeAPI {
    private static let batchMembers = ["mode", "events"]
    private static let batchEventMembers = ["channel"] + EmissionReader.eventMembers

    /// `POST /v1/events/batch`: many events in one commit. `atomic` stores all or nothing, `each` those that are
    /// acceptable, with a problem in the place of every other.
    func postBatch(_ request: Request, _ caller: Caller) async throws -> Response {
        let fields = try Fields(request.body.bytes, limits: limits, known: Self.batchMembers)
        guard let value = fields.member("events"), let text = fields.raw("events") else {
            throw fields.missing("member 'events'")
        }
        let elements = try BatchElements(value, text: text, pointer: "#/events", limits: limits)
        switch try fields.string("mode") ?? "atomic" {
        case "atomic": return try await emitAtomic(elements, request, caller)
        case "each": return try await emitEach(elements, request, caller)
        default: throw fields.fault("mode", "enum", "must be 'atomic' or 'each'")
        }
    }

    private static func emission(_ element: BatchElements.Element) throws(ChatError) -> Emission {
        let fields = try element.fields(known: batchEventMembers)
        guard let channel = try fields.string("channel") else { throw fields.missing("member 'channel'") }
        return try EmissionReader.event(fields, channel: channel)
    }

    private func emitAtomic(_ elements: BatchElements, _ request: Request, _ caller: Caller) async throws -> Response {
        let chat = service.chat(for: caller)
        let emissions = try elements.map { try Self.emission($0) }
        if try isDryRun(request) { return try await dryRun(emissions.map { .success($0) }, chat) }
        // The emit asks this as well; here is known which of the events it is.
        for (emission, element) in zip(emissions, elements) {
            do { _ = try chat.admit(emission) } catch { throw error.placed(at: element.pointer) }
        }
        return try await emitBatch(emissions, refusals: .null, request, chat)
    }

    private func emitEach(_ elements: BatchElements, _ request: Request, _ caller: Caller) async throws -> Response {
        let chat = service.chat(for: caller)
        let read = elements.map { element in ReadEmission { () throws(ChatError) in try Self.emission(element) } }
        if try isDryRun(request) { return try await dryRun(read, chat) }
        let items = zip(read, elements).map { read, element in Self.admitted(read, element, chat) }
        let emissions = items.compactMap { try? $0.get() }
        guard emissions.count < items.count else {
            return try await emitBatch(emissions, refusals: .null, request, chat)
        }
        return try await emitBatch(emissions, refusals: printed(refusalsOf: items, request), request, chat)
    }

    private static func admitted(
        _ read: ReadEmission, _ element: BatchElements.Element, _ chat: Chat
    ) -> ReadEmission {
        guard case .success(let emission) = read else { return read }
        do throws(ChatError) {
            _ = try chat.admit(emission)
            return read
        } catch {
            return .failure(error.faults.isEmpty ? error.placed(at: element.pointer) : error)
        }
    }

    private func isDryRun(_ request: Request) throws(ChatError) -> Bool {
        try Parameters(request.query, known: ["dry_run"]).flag("dry_run")
    }

    /// - Parameter refusals: an array with the result of each refused event and `null` in the place of each other; or
    ///   `null` when none was. It is the note of a claim: with the events' places, all that the answer says.
    private func emitBatch(
        _ emissions: [Emission], refusals: JSONText, _ request: Request, _ chat: Chat
    ) async throws -> Response {
        guard !emissions.isEmpty else { return Self.printed(AppendOutcome(events: []), refusals) }
        guard let key = try IdempotencyKey(request.headers) else {
            return Self.printed(try await stored(emissions, nil, chat), refusals)
        }
        return try await claims.run(key, .batch, request, chat.caller) { claim in
            let outcome = try await stored(emissions, claim(refusals), chat)
            return Self.printed(outcome, outcome.repeatedNote ?? refusals)
        }
    }

    private static func printed(_ outcome: AppendOutcome, _ refusals: JSONText) -> Response {
        var stored = outcome.events.makeIterator()
        let places = refusals.rawElements() ?? Array(repeating: .null, count: outcome.events.count)
        var writer = JSONWriter(capacity: places.count * 160 + 32)
        writer.beginObject()
        writer.key("results")
        writer.beginArray()
        for refusal in places {
            if refusal == .null, let appended = stored.next() {
                writer.beginObject()
                writer.member("status", 201)
                printPlace(of: appended, outcome, to: &writer)
                writer.endObject()
            } else {
                writer.raw(refusal)
            }
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes, headers: outcome.replayHeaders)
    }

    private func printed(refusalsOf items: [ReadEmission], _ request: Request) -> JSONText {
        JSONText(capacity: items.count * 8 + 512) { writer in
            writer.beginArray()
            for item in items {
                guard case .failure(let error) = item else {
                    writer.null()
                    continue
                }
                let problem = Problem(error)
                writer.beginObject()
                writer.member("status", problem.status)
                writer.member(
                    "problem", JSONText(trusted: problem.body(baseURL: publicURL, requestID: request.id)))
                writer.endObject()
            }
            writer.endArray()
        }
    }
}

extension ChatError {
    /// The same error about one event of the body; what is wrong with its data stays listed.
    func placed(at pointer: String) -> ChatError {
        var error = self
        error.message = "\(pointer): \(message)"
        error.faults =
            faults.isEmpty
            ? [Fault(pointer: pointer, keyword: slug ?? code.slug, detail: message)]
            : faults.map { fault in
                var fault = fault
                fault.pointer = pointer + "/data" + fault.pointer.dropFirst()
                return fault
            }
        return error
    }
}
