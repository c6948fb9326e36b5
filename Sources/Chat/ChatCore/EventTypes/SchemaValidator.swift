import ChatModel
import JSON
import JSONSchema

/// What the payloads of one type are held against. Made when a type or a version is declared, so that an emit finds it
/// ready; immutable, so that all threads share it.
final class SchemaValidator: Sendable {
    let reference: SchemaReference
    let mode: EventType.Mode
    /// Nil for a stored version that this gateway cannot compile: nothing passes unchecked because of it.
    let schema: Schema?
    /// Accepted events name the version. Those of built-in types do not: it says nothing that the type does not.
    let marksEvents: Bool
    private let depth: Int

    init(
        _ reference: SchemaReference, _ schema: Schema?, mode: EventType.Mode, limits: Limits, marksEvents: Bool = true
    ) {
        self.reference = reference
        self.schema = schema
        self.mode = mode
        self.marksEvents = marksEvents
        depth = limits.jsonDepth
    }

    /// Checks a payload.
    ///
    /// - Parameters:
    ///   - value: the payload as its interface has parsed it; nil lets the gate parse the text.
    ///   - work: what is left of the request's; on the loop the answer counts only if nothing was put off.
    /// - Returns: what accepted it; nil when it is not checked, or refused and the mode lets it pass.
    /// - Throws: under `enforce`: `.malformed` for a number outside 64 bits, which a schema could not be held against;
    ///   `.invalid` with the slug `schema_violation`.
    func admit(
        _ data: JSONText, parsed value: JSONValue?, within work: inout ValidationBudget
    ) throws(ChatError) -> SchemaReference? {
        guard mode != .off else { return nil }
        guard !work.isTooLarge(data.count) else {
            work.isPutOff = true
            return nil
        }
        let exact: JSONValue
        do throws(ChatError) {
            exact = try self.exact(data, value)
        } catch {
            // It is stored; what is wrong is told with the other violations.
            if mode == .warn { return nil }
            throw error
        }
        let verdict = verdict(on: exact, data.count, &work)
        if verdict == .valid { return marksEvents ? reference : nil }
        guard !work.isOnLoop || (mode == .warn && verdict == .invalid) else {
            // It may do with more steps, and the reasons of a refusal cost far more than a verdict.
            work.isPutOff = true
            return nil
        }
        guard mode == .enforce, let refusal = refusal(verdict, of: exact, data.count, &work) else { return nil }
        throw refusal
    }

    /// Nil where there is nothing to ask.
    ///
    /// - Parameter bytes: what the check is paid with: the payload's own, not those of the body it came in.
    private func verdict(on value: JSONValue, _ bytes: Int, _ work: inout ValidationBudget) -> Verdict? {
        guard let schema else { return nil }
        return ScratchPool.shared.verdict(on: value, bytes: bytes, by: schema, within: &work.budget)
    }

    /// Why a stored payload would be refused; nil when nothing is wrong with it any more.
    func refusal(of data: JSONText) -> ChatError? {
        do throws(ChatError) {
            let value = try exact(data, nil)
            var work = ValidationBudget()
            return refusal(verdict(on: value, data.count, &work), of: value, data.count, &work)
        } catch {
            return undecided(error.message, keyword: error.slug == "number_out_of_range" ? "number" : "json")
        }
    }

    /// What the sender is told of a verdict.
    private func refusal(
        _ verdict: Verdict?, of value: JSONValue, _ bytes: Int, _ work: inout ValidationBudget
    ) -> ChatError? {
        guard let schema, let verdict else {
            return error("version \(reference.version) of '\(reference.type)' cannot be read by this gateway", [])
        }
        switch ValidationResult(verdict, of: value, bytes: bytes, by: schema, within: &work) {
        case .valid: return nil
        case .invalid(let report):
            let faults = report.violations.map { ChatError.FieldError($0) }
            let first = faults.first.map { "\($0.pointer): \($0.detail)" } ?? "it is refused"
            let more = report.isTruncated ? " (and more)" : faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
            return error(
                "data does not match version \(reference.version) of '\(reference.type)': \(first)\(more)", faults)
        case .exhausted(let budget): return undecided(budget.sentence, keyword: "limit")
        }
    }

    /// Neither accepted nor refused by the schema.
    private func undecided(_ detail: String, keyword: String) -> ChatError {
        error(
            "data cannot be held against version \(reference.version) of '\(reference.type)': \(detail)",
            [ChatError.FieldError(pointer: "#", keyword: keyword, detail: detail)])
    }

    /// The payload with its integers as they are: a body that was read leniently has them all as doubles.
    private func exact(_ data: JSONText, _ value: JSONValue?) throws(ChatError) -> JSONValue {
        if let value, value.document.hasExactIntegers { return value }
        do {
            return try JSONDocument(data.bytes, limits: JSONLimits(depth: depth)).root
        } catch {
            throw ChatError(error)
        }
    }

    private func error(_ message: String, _ faults: [ChatError.FieldError]) -> ChatError {
        var error = ChatError(.invalid, message, slug: "schema_violation")
        error.faults = faults
        error.members = [
            ("event_type", JSONText(string: reference.type)),
            ("schema_version", JSONText { $0.integer(reference.version) }),
        ]
        return error
    }
}

/// The gates of the gateway's own types, compiled once in a process. Those that accept anything have none, so that their
/// payloads need not be parsed for it.
enum BuiltInValidators {
    static let all: [ExactText: SchemaValidator] = {
        let limits = Limits()
        let check = SchemaCheck(limits: limits)
        var validators: [ExactText: SchemaValidator] = [:]
        for type in BuiltInCatalogue.all where !type.counterExamples.isEmpty {
            // A schema of ours that does not compile refuses its events; the catalogue's own test finds it before.
            let schema = try? check.compile(SchemaVersion(type).schema)
            validators[ExactText(type.name)] = SchemaValidator(
                SchemaReference(type: type.name, version: 1), schema, mode: .enforce, limits: limits,
                marksEvents: false)
        }
        return validators
    }()
}
