import ChatModel
import JSON
import JSONSchema

/// Validates the payloads of one type. It is made when a type or a version is declared, so that it is ready for emits.
/// Immutable, so all threads share it.
final class SchemaValidator: Sendable {
    let reference: SchemaReference
    let mode: EventType.Mode
    /// Nil for a stored version that this gateway cannot compile. Then every payload is refused under `enforce`.
    let schema: Schema?
    /// True when accepted events name the version. Events of built-in types do not, because these have only one
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
    /// - Parameters:
    ///   - value: the payload as its interface has parsed it; nil to parse the text here.
    ///   - work: the remaining validation budget of the request. On the loop, the result counts only if nothing was
    ///     postponed.
    /// - Returns: the schema that accepted it; nil when it is not checked, or does not match and the mode permits that.
    /// - Throws: under `enforce`: `.malformed` for a number outside 64 bits, which cannot be validated; `.invalid` with
    ///   the slug `schema_violation`.
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
            // The event is stored, and the error is reported with the other violations.
            if mode == .warn { return nil }
            throw error
        }
        let verdict = verdict(on: exact, data.count, &work)
        if verdict == .valid { return marksEvents ? reference : nil }
        guard !work.isOnLoop || (mode == .warn && verdict == .invalid) else {
            // More steps may yield another verdict, and finding the reasons of a refusal costs far more than a verdict.
            work.isPutOff = true
            return nil
        }
        guard mode == .enforce, let refusal = refusal(verdict, of: exact, data.count, &work) else { return nil }
        throw refusal
    }

    /// The verdict on a value; nil when there is no schema.
    ///
    /// - Parameter bytes: the length of the payload, which determines its step budget; not the length of the request
    ///   body.
    private func verdict(on value: JSONValue, _ bytes: Int, _ work: inout ValidationBudget) -> Verdict? {
        guard let schema else { return nil }
        return ScratchPool.shared.verdict(on: value, bytes: bytes, by: schema, within: &work.budget)
    }

    /// The error with which a stored payload would be refused; nil when it matches the schema now.
    func refusal(of data: JSONText) -> ChatError? {
        do throws(ChatError) {
            let value = try exact(data, nil)
            var work = ValidationBudget()
            return refusal(verdict(on: value, data.count, &work), of: value, data.count, &work)
        } catch {
            return undecided(error.message, keyword: error.slug == "number_out_of_range" ? "number" : "json")
        }
    }

    /// The error for the sender that describes a verdict.
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
            let first = faults.first.map { "\($0.place): \($0.detail)" } ?? "it is refused"
            let more = report.isTruncated ? " (and more)" : faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
            return error(
                "data does not match version \(reference.version) of '\(reference.type)': \(first)\(more)", faults)
        case .exhausted(let budget): return undecided(budget.sentence, keyword: "limit")
        }
    }

    /// The error for a payload that the schema neither accepts nor refuses.
    private func undecided(_ detail: String, keyword: String) -> ChatError {
        error(
            "data cannot be checked against version \(reference.version) of '\(reference.type)': \(detail)",
            [ChatError.FieldError(pointer: "#", keyword: keyword, detail: detail)])
    }

    /// The payload with exact integers. A leniently parsed body has all numbers as doubles, so it is parsed again.
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

/// The validators of the built-in types, compiled once in a process. Types that accept anything have none, so that
/// their payloads need not be parsed.
enum BuiltInValidators {
    static let all: [ExactText: SchemaValidator] = {
        let limits = Limits()
        let check = SchemaCheck(limits: limits)
        var validators: [ExactText: SchemaValidator] = [:]
        for type in BuiltInCatalogue.all where !type.counterExamples.isEmpty {
            // A built-in schema that does not compile refuses its events. The catalogue's tests prevent that.
            let schema = try? check.compile(SchemaVersion(type).schema)
            validators[ExactText(type.name)] = SchemaValidator(
                SchemaReference(type: type.name, version: 1), schema, mode: .enforce, limits: limits,
                marksEvents: false)
        }
        return validators
    }()
}
