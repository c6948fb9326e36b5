import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking

/// An event of a request, or the error with which its parsing failed.
typealias ParsedDraft = Result<EventDraft, ChatError>

extension NativeAPI {
    private static let batchMembers = ["mode", "events"]
    private static let batchEventMembers = ["channel"] + DraftParser.eventMembers

    /// `POST /v1/events/batch`: emits many events in one commit. The mode `atomic` stores all events or none. The mode
    /// `each` stores the valid events and returns a problem for each invalid event.
    func postBatch(_ request: Request, _ caller: Caller) async throws -> Response {
        // Runs off the loop, because even a short body may contain hundreds of events.
        try await asLongWork { try await answerBatch(request, caller) }
    }

    private func answerBatch(_ request: Request, _ caller: Caller) async throws -> Response {
        let fields = try Fields(request.body.bytes, limits: limits, known: Self.batchMembers)
        guard let events = fields.member("events") else { throw fields.missing("member 'events'") }
        let elements = try BatchElements(events.text, pointer: "#/events", limits: limits)
        switch try fields.string("mode") ?? "atomic" {
        case "atomic": return try await emitAtomic(elements, request, caller)
        case "each": return try await emitEach(elements, request, caller)
        default: throw fields.fault("mode", "enum", "must be 'atomic' or 'each'")
        }
    }

    private static func draft(_ element: BatchElements.Element) throws(ChatError) -> EventDraft {
        let fields = try element.fields(known: batchEventMembers)
        guard let channel = try fields.string("channel") else { throw fields.missing("member 'channel'") }
        return try DraftParser.event(fields, channel: channel)
    }

    private func emitAtomic(_ elements: BatchElements, _ request: Request, _ caller: Caller) async throws -> Response {
        let chat = try chat(for: caller, request)
        let drafts = try elements.map { try Self.draft($0) }
        if try isDryRun(request) { return try await dryRun(drafts.map { .success($0) }, chat) }
        let read = drafts.map { ParsedDraft.success($0) }
        return try await emitBatch(read, elements, isAtomic: true, request, chat)
    }

    private func emitEach(_ elements: BatchElements, _ request: Request, _ caller: Caller) async throws -> Response {
        let chat = try chat(for: caller, request)
        let read = elements.map { element in ParsedDraft { () throws(ChatError) in try Self.draft(element) } }
        if try isDryRun(request) { return try await dryRun(read, chat) }
        return try await emitBatch(read, elements, isAtomic: false, request, chat)
    }

    /// Checks whether the events of a batch would be accepted. Adds the location in the body to the error of each
    /// rejected event. Does not change errors with a list of faults in mode `each`: the locations of these faults stay
    /// relative to the event.
    private static func admitted(
        _ read: [ParsedDraft], _ elements: BatchElements, isAtomic: Bool, _ chat: ChatAccess
    ) async throws(ChatError) -> PreparedDrafts {
        var work = ValidationBudget()
        var admitted = try await chat.prepare(read, within: &work)
        admitted.results = zip(zip(read, admitted.results), elements).map { pair, element in
            guard case (.success, .failure(let error)) = pair else { return pair.1 }
            // In mode `each`, an event is identified by its index in the response, so the pointers of its errors stay
            // relative to the event.
            return .failure(isAtomic || error.faults.isEmpty ? error.placed(at: element.pointer) : error)
        }
        return admitted
    }

    /// Returns the value of the query parameter `dry_run`.
    ///
    /// - Throws: `.malformed` for an invalid `Idempotency-Key` or query parameter, as for a batch that is not a dry
    ///   run.
    private func isDryRun(_ request: Request) throws(ChatError) -> Bool {
        _ = try IdempotencyKey(request.headers)
        return try Parameters(request.query, known: ["dry_run"]).flag("dry_run")
    }

    private func emitBatch(
        _ read: [ParsedDraft], _ elements: BatchElements, isAtomic: Bool, _ request: Request, _ chat: ChatAccess
    ) async throws -> Response {
        let admitted = try await Self.admitted(read, elements, isAtomic: isAtomic, chat)
        guard let key = try IdempotencyKey(request.headers) else {
            return try await store(admitted, isAtomic: isAtomic, request, chat) { _ in nil }
        }
        return try await claims.run(key, .batch, request, chat.caller) { makeClaim in
            // A repeat gets the response of the first request, even if its events would be rejected or accepted now.
            if let earlier = try await chat.earlier(makeClaim(.null)) {
                return Self.printed(earlier, read, chat)
            }
            return try await store(admitted, isAtomic: isAtomic, request, chat, makeClaim)
        }
    }

    /// Stores the accepted events and returns the response. In mode `atomic`, throws the error of a
    /// rejected event and stores nothing.
    ///
    /// - Parameter claim: creates the claim (the record that detects a repeat of the request) from the problems, which
    ///   are stored with the events. The problems are an array with the problem of each rejected event and `null` for
    ///   each accepted event, or `null` if no event was rejected.
    private func store(
        _ admitted: PreparedDrafts, isAtomic: Bool, _ request: Request, _ chat: ChatAccess,
        _ claim: (JSONText) -> Claim?
    ) async throws -> Response {
        var drafts: [EventDraft] = []
        for item in admitted.results {
            switch item {
            case .success(let draft): drafts.append(draft)
            case .failure(let refusal): if isAtomic { throw refusal }
            }
        }
        let refusals =
            drafts.count == admitted.results.count ? .null : printed(refusalsOf: admitted.results, request)
        guard !drafts.isEmpty else { return Self.printed(AppendOutcome(events: []), refusals) }
        let outcome = try await chat.emit(prepared: drafts, asOf: admitted.revision, claim: claim(refusals))
        metrics.countEmitted(outcome)
        return Self.printed(outcome, outcome.repeatedNote ?? refusals)
    }

    /// The response to an earlier request with the same key. The earlier request accepted every event that has no
    /// problem in the stored note (the array of problems).
    private static func printed(_ earlier: RepeatedAppend, _ read: [ParsedDraft], _ chat: ChatAccess) -> Response {
        let places = earlier.note.rawElements()
        let drafts = read.enumerated().compactMap { index, draft in
            places.map { index < $0.count && $0[index] == .null } ?? true ? try? draft.get() : nil
        }
        return printed(chat.outcome(of: earlier, asking: drafts), earlier.note)
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
                printAppended(of: appended, outcome, to: &writer)
                writer.endObject()
            } else {
                writer.raw(refusal)
            }
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes, headers: outcome.replayHeaders)
    }

    private func printed(refusalsOf items: [Result<EventDraft, ChatError>], _ request: Request) -> JSONText {
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
    /// Returns the error with the location of one event in the body. If the error lists faults of the event's data,
    /// each fault gets its location in the body.
    func placed(at pointer: String) -> ChatError {
        var error = self
        if faults.isEmpty, let field {
            error = pointed(at: field.isEmpty ? pointer : pointer + "/" + field)
        } else if faults.isEmpty {
            error.faults = [FieldError(pointer: pointer, keyword: slug ?? code.slug, detail: message)]
        } else {
            error.faults = faults.map { $0.below(pointer + "/data") }
        }
        error.message = "\(pointer): \(message)"
        return error
    }
}

/// The elements of a JSON array of events, each with its bytes and its JSON pointer. There are 1 to
/// `Limits.batchEvents` elements.
struct BatchElements: Sequence {
    struct Element {
        let text: JSONText
        let pointer: String

        func fields(known: [String]?) throws(ChatError) -> Fields {
            try Fields(text, pointer: pointer, known: known)
        }
    }

    private let elements: [Element]

    /// Finds the elements of an array.
    ///
    /// - Parameter body: a whole request body, which must be a JSON array.
    init(_ body: [UInt8], limits: Limits) throws {
        let document = try Fields.parse(body, limits: limits)
        try self.init(document.text, pointer: "#", limits: limits)
    }

    init(_ text: JSONText, pointer: String, limits: Limits) throws(ChatError) {
        guard let texts = text.rawElements() else {
            throw Fields.wrongType(pointer, expected: "array", text.kind)
        }
        guard texts.count <= limits.batchEvents else {
            throw ChatError.over(
                .tooLarge, "the request has \(texts.count) events; at most \(limits.batchEvents) are accepted",
                slug: "too_many_events", limit: limits.batchEvents
            ).pointed(at: pointer)
        }
        guard !texts.isEmpty else {
            throw Fields.fault(pointer, "items", "the array must have at least one event", slug: "bad_member")
        }
        elements = texts.enumerated().map { index, text in Element(text: text, pointer: "\(pointer)/\(index)") }
    }

    func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}
