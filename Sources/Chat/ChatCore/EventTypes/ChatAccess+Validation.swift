public import ChatModel
public import JSON
import JSONSchema

/// The result of validating a payload against a schema.
public struct Validation: Sendable {
    /// The name of the event type.
    public var type: String
    /// The number of the version used; nil when the type has no schema, in which case every payload is valid.
    public var version: Int?
    /// True when the schema accepts the payload.
    public var isValid: Bool
    /// The first violations; empty for a valid payload. If the validation ended at a limit, the only fault has the
    /// keyword `limit`.
    public var faults: [ChatError.FieldError] = []
    /// True when there are more violations than `faults` lists.
    public var isTruncated = false
    private var violations: [Violation] = []

    init(type: String, version: Int? = nil) {
        self.type = type
        self.version = version
        isValid = true
    }

    init(type: String, version: Int, _ validationResult: ValidationResult) {
        self.init(type: type, version: version)
        switch validationResult {
        case .valid: break
        case .invalid(let report):
            isValid = false
            violations = report.violations
            faults = report.violations.map { ChatError.FieldError($0) }
            isTruncated = report.isTruncated
        case .exhausted(let budget):
            isValid = false
            faults = [ChatError.FieldError(pointer: "#", keyword: "limit", detail: budget.sentence)]
        }
    }

    /// Prints the result as the next value of `writer`, in the output format `basic` of JSON Schema 2020-12 (core,
    /// 12.4.2).
    public func printBasic(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("valid", isValid)
        if !isValid {
            writer.key("errors")
            writer.beginArray()
            for violation in violations {
                writer.beginObject()
                writer.member("keywordLocation", violation.keywordLocation)
                writer.member("absoluteKeywordLocation", violation.absoluteKeywordLocation)
                writer.member("instanceLocation", String(violation.pointer.dropFirst()))
                writer.member("error", violation.detail)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension ChatAccess {
    /// Validates a payload against a version of a type's schema, even when the type's mode is `off`. Stores nothing.
    ///
    /// - Parameters:
    ///   - number: the version's number; nil for the newest version. The newest version is already compiled; an older
    ///     version is compiled for this call.
    ///   - left: the remaining validation budget of the request. The call reduces it, because one request may make
    ///     several validations.
    /// - Throws: `.forbidden` when the caller may not read the type; `.notFound` when the type or the version does not
    ///   exist; `.malformed` for a payload that the validator cannot read.
    public func validate(
        _ data: JSONText, as name: String, version number: Int? = nil, within left: inout ValidationBudget
    ) async throws(ChatError) -> Validation {
        try requireReading(name)
        let types = service.eventTypes
        let latest = try await newestType(name).latestVersion
        let value = try exactValue(of: data)
        let wanted = number ?? latest
        guard wanted > 0 || number != nil else { return Validation(type: name) }
        if let validator = types.validator(of: name, in: app), validator.reference.version == wanted,
            let schema = validator.schema
        {
            let judged = try await types.runInTurn(for: app) { [left] () async throws(ChatError) in
                Self.validated(value, by: schema, left)
            }
            left = judged.left
            return Validation(type: name, version: wanted, judged.validationResult)
        }
        let text = try await version(wanted, of: name).schema
        let judged = try await types.compileQueue.run(for: app) { [left] () async throws(ChatError) in
            Self.validated(value, by: try types.storedCheck.compile(text), left)
        }
        left = judged.left
        return Validation(type: name, version: wanted, judged.validationResult)
    }

    /// Validates a payload with the full budget, for a request that makes only one validation.
    ///
    /// - Throws: the errors of ``validate(_:as:version:within:)``.
    public func validate(
        _ data: JSONText, as name: String, version number: Int? = nil
    ) async throws(ChatError) -> Validation {
        var work = ValidationBudget()
        return try await validate(data, as: name, version: number, within: &work)
    }

    private static func validated(
        _ value: JSONValue, by schema: Schema, _ work: ValidationBudget
    ) -> (validationResult: ValidationResult, left: ValidationBudget) {
        var work = work
        return (ValidationResult(of: value, by: schema, within: &work), work)
    }

    private func exactValue(of data: JSONText) throws(ChatError) -> JSONValue {
        do {
            return try JSONDocument(data.bytes, limits: JSONLimits(depth: limits.jsonDepth)).root
        } catch {
            throw ChatError(error)
        }
    }
}
