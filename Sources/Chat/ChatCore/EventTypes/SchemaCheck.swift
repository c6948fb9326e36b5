import ChatModel
import JSON
import JSONSchema

/// Checks a schema before it becomes a version: it must compile, and its examples must be accepted or refused as
/// declared.
struct SchemaCheck: Sendable {
    let limits: Limits
    /// True for a schema that passed this check before. Then it is refused neither for its length, since the limit may
    /// have been lowered, nor for its compile time, since the machine may have become slower. A refusal would also
    /// refuse the events of its type.
    var isOfStored = false

    private static let storedMilliseconds = 20_000

    var options: SchemaOptions {
        var options = SchemaOptions()
        options.limits.schemaBytes = isOfStored ? .max : limits.schemaBytes
        if isOfStored { options.limits.compileMilliseconds = Self.storedMilliseconds }
        // A payload is validated in place, within its request's body.
        options.limits.payloadBytes = max(
            limits.emitBodyBytes, limits.batchBodyBytes, limits.inboundBodyBytes, limits.dataBytes)
        return options
    }

    /// Compiles a schema.
    ///
    /// - Throws: `.tooLarge`; `.malformed` for text that is not JSON; `.invalid` with the slug `schema_invalid` and
    ///   faults that point into the schema.
    func compile(_ text: JSONText) throws(ChatError) -> Schema {
        guard isOfStored || text.count <= limits.schemaBytes else {
            throw ChatError(.tooLarge, "a schema may have at most \(limits.schemaBytes) bytes")
        }
        let document: JSONDocument
        do {
            // The parser's maximum depth. The compiler limits the depth of a schema.
            document = try JSONDocument(text.bytes, limits: JSONLimits(depth: 2000))
        } catch {
            throw ChatError(error)
        }
        do {
            return try Schema(document, options: options)
        } catch {
            throw Self.refusal(error)
        }
    }

    private static func refusal(_ refusal: SchemaError) -> ChatError {
        let faults = refusal.problems.map { problem in
            ChatError.FieldError(
                pointer: problem.pointer, keyword: problem.reason.rawValue, detail: problem.detail,
                schema: problem.absoluteKeywordLocation)
        }
        let first = faults.first.map { ": \($0.place): \($0.detail)" } ?? ""
        var error = ChatError(.invalid, "the schema cannot be used\(first)", slug: "schema_invalid")
        error.faults = faults
        return error
    }

    /// Validates the examples and counter-examples of a proposal.
    ///
    /// - Throws: `.invalid` with the slug `example_invalid` for an example that is refused or a counter-example that is
    ///   accepted.
    func tryExamples(of proposal: SchemaProposal, on schema: Schema) throws(ChatError) {
        var work = ValidationBudget()
        try tryExamples(proposal.examples, "examples", on: schema, wanted: true, within: &work)
        try tryExamples(proposal.counterExamples, "counter_examples", on: schema, wanted: false, within: &work)
    }

    private func tryExamples(
        _ examples: [JSONText], _ member: String, on schema: Schema, wanted: Bool, within work: inout ValidationBudget
    ) throws(ChatError) {
        guard examples.count <= limits.schemaExamples else {
            throw ChatError(
                .malformed, "\(member): at most \(limits.schemaExamples) are kept with a version", field: member)
        }
        var faults: [ChatError.FieldError] = []
        for (index, example) in examples.enumerated() {
            let place = "#/\(member)/\(index)"
            guard example.count <= limits.dataBytes else {
                throw ChatError(
                    .tooLarge, "\(place) has more than the \(limits.dataBytes) bytes an event's data may have")
            }
            faults += Self.faults(
                of: example, at: place, on: schema, wanted: wanted, depth: limits.jsonDepth, within: &work)
        }
        guard let first = faults.first else { return }
        var error = ChatError(.invalid, "\(first.place): \(first.detail)", slug: "example_invalid")
        error.faults = faults
        throw error
    }

    private static func faults(
        of example: JSONText, at place: String, on schema: Schema, wanted: Bool, depth: Int,
        within work: inout ValidationBudget
    ) -> [ChatError.FieldError] {
        let value: JSONValue
        do {
            value = try JSONDocument(example.bytes, limits: JSONLimits(depth: depth)).root
        } catch {
            return [ChatError.FieldError(pointer: place, keyword: "json", detail: "not acceptable JSON: \(error)")]
        }
        switch (ValidationResult(of: value, by: schema, within: &work), wanted) {
        case (.valid, true), (.invalid, false): return []
        case (.valid, false):
            return [ChatError.FieldError(pointer: place, keyword: "counter_example", detail: "the schema accepts it")]
        case (.invalid(let report), true):
            return report.violations.map { ChatError.FieldError($0).below(place) }
        case (.exhausted(let budget), _):
            return [ChatError.FieldError(pointer: place, keyword: "limit", detail: budget.sentence)]
        }
    }
}
