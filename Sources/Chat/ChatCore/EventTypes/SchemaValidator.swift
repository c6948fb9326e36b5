import ChatModel
import JSON
import JSONSchema

/// Validates the payloads of one type. A validator is created when a type or a version is declared, so that emits do
/// not wait for it. A validator is immutable, so threads can share it.
final class SchemaValidator: Sendable {
    let reference: SchemaReference
    let mode: EventType.Mode
    /// The compiled schema; nil for a stored version that this gateway cannot compile. In mode `enforce`, every payload
    /// is then rejected.
    let schema: Schema?
    /// True to record the schema version in accepted events. False for built-in types, because these have only one
    /// version.
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

    /// Validates a payload.
    ///
    /// - Parameter work: the remaining validation budget of the request. On the event loop, the result is valid only
    ///   when `work.isPutOff` stays false.
    /// - Returns: the schema that accepted the payload; nil when the payload is not checked, or when it violates the
    ///   schema and the mode permits that.
    /// - Throws: in mode `enforce`: `.malformed` for a number outside 64 bits, which cannot be validated; `.invalid`
    ///   with the slug `schema_violation`.
    func admit(_ data: JSONText, within work: inout ValidationBudget) throws(ChatError) -> SchemaReference? {
        guard mode != .off else { return nil }
        guard !work.isTooLarge(data.count) else {
            work.isPutOff = true
            return nil
        }
        let value: JSONValue
        do throws(ChatError) {
            value = try parsed(data)
        } catch {
            // In mode `warn`, the event is stored and the error is reported with the other violations.
            if mode == .warn { return nil }
            throw error
        }
        let verdict = verdict(on: value, data.count, &work)
        if verdict == .valid { return marksEvents ? reference : nil }
        guard !work.isOnLoop || (mode == .warn && verdict == .invalid) else {
            // The full budget may lead to another verdict. Also, finding the reasons of a rejection takes far longer
            // than the verdict, and must not run on the event loop.
            work.isPutOff = true
            return nil
        }
        guard mode == .enforce, let refusal = refusal(verdict, of: value, data.count, &work) else { return nil }
        throw refusal
    }

    /// Returns the verdict on a value; nil when there is no schema.
    ///
    /// - Parameter bytes: the length of the payload in bytes, which determines the payload's step budget. Do not pass
    ///   the length of the request body.
    private func verdict(on value: JSONValue, _ bytes: Int, _ work: inout ValidationBudget) -> Verdict? {
        guard let schema else { return nil }
        return ScratchPool.shared.verdict(on: value, bytes: bytes, by: schema, within: &work.budget)
    }

    /// Returns the error that rejects a stored payload; nil when the payload matches the current schema.
    func refusal(of data: JSONText) -> ChatError? {
        do throws(ChatError) {
            let value = try parsed(data)
            var work = ValidationBudget()
            return refusal(verdict(on: value, data.count, &work), of: value, data.count, &work)
        } catch {
            return undecided(error.message, keyword: error.slug == "number_out_of_range" ? "number" : "json")
        }
    }

    /// Returns the error that tells the sender why a payload is not valid; nil when the payload is valid.
    ///
    /// - Parameter verdict: the verdict on the payload; nil when there is no compiled schema.
    private func refusal(
        _ verdict: Verdict?, of value: JSONValue, _ bytes: Int, _ work: inout ValidationBudget
    ) -> ChatError? {
        guard let schema, let verdict else {
            return error(
                "this release of the gateway cannot read version \(reference.version) of the schema of '\(reference.type)'",
                [])
        }
        switch ValidationResult(verdict, of: value, bytes: bytes, by: schema, within: &work) {
        case .valid: return nil
        case .invalid(let report):
            let faults = report.violations.map { ChatError.FieldError($0) }
            let first = faults.first.map { "\($0.place): \($0.detail)" } ?? "the schema rejects the data"
            let more = report.isTruncated ? " (and more)" : faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
            return error(
                "data does not match version \(reference.version) of '\(reference.type)': \(first)\(more)", faults)
        case .exhausted(let budget): return undecided(budget.sentence, keyword: "limit")
        }
    }

    /// Returns the error for a payload on which the validation reached no verdict.
    private func undecided(_ detail: String, keyword: String) -> ChatError {
        error(
            "data cannot be checked against version \(reference.version) of '\(reference.type)': \(detail)",
            [ChatError.FieldError(pointer: "#", keyword: keyword, detail: detail)])
    }

    /// Parses a payload. Its integers must be exact. Payloads of PubNub clients may contain repeated names.
    private func parsed(_ data: JSONText) throws(ChatError) -> JSONValue {
        do {
            return try JSONDocument(data.bytes, limits: JSONLimits(depth: depth), duplicates: .lastWins).root
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

/// The validators of the built-in types, compiled once per process. Types whose schema accepts any payload have no
/// validator, so their payloads need not be parsed.
enum BuiltInValidators {
    static let all: [ExactText: SchemaValidator] = {
        let limits = Limits()
        let check = SchemaCheck(limits: limits)
        var validators: [ExactText: SchemaValidator] = [:]
        for type in BuiltInCatalogue.all where !type.acceptsAnything {
            // If a built-in schema did not compile, its events would be rejected. The tests of the catalogue prevent
            // that.
            let schema = try? check.compile(SchemaVersion(type).schema)
            validators[ExactText(type.name)] = SchemaValidator(
                SchemaReference(type: type.name, version: 1), schema, mode: .enforce, limits: limits,
                marksEvents: false)
        }
        return validators
    }()
}
