import ChatModel
import JSON
import JSONSchema

/// Checks a schema before it becomes a version. The schema must compile, must accept its examples, and must reject its
/// counter-examples.
struct SchemaCheck: Sendable {
    let limits: Limits
    /// True for a stored schema, which passed this check before it was stored. A stored schema is not rejected for its
    /// length, because the limit may have been lowered since then. A stored schema also gets more time to compile,
    /// because the machine may have become slower. Rejecting the schema would also reject the events of its type.
    var isOfStored = false

    private static let storedMilliseconds = 20_000

    var options: SchemaOptions {
        var options = SchemaOptions()
        options.limits.schemaBytes = isOfStored ? .max : limits.schemaBytes
        if isOfStored { options.limits.compileMilliseconds = Self.storedMilliseconds }
        // A payload is validated inside the body of its request, so the limit is the largest body.
        options.limits.payloadBytes = max(
            limits.emitBodyBytes, limits.batchBodyBytes, limits.inboundBodyBytes, limits.dataBytes)
        return options
    }

    /// Compiles a schema.
    ///
    /// - Throws: `.tooLarge` for a schema above the size limit; `.malformed` for text that is not JSON; `.invalid` with
    ///   the slug `schema_invalid` and faults that point into the schema.
    func compile(_ text: JSONText) throws(ChatError) -> Schema {
        guard isOfStored || text.count <= limits.schemaBytes else {
            throw ChatError(.tooLarge, "a schema may have at most \(limits.schemaBytes) bytes")
        }
        let document: JSONDocument
        do {
            // The maximum depth for the parser. The compiler checks the depth of the schema itself.
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
    /// - Throws: `.invalid` with the slug `example_invalid` when an example is rejected or a counter-example is
    ///   accepted; `.malformed` for too many examples; `.tooLarge` for an example above the size limit of event data.
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
                .malformed, "'\(member)' may have at most \(limits.schemaExamples) elements", field: member)
        }
        var faults: [ChatError.FieldError] = []
        for (index, example) in examples.enumerated() {
            let place = "#/\(member)/\(index)"
            guard example.count <= limits.dataBytes else {
                throw ChatError(
                    .tooLarge, "\(place) is larger than the maximum size of an event's data, \(limits.dataBytes) bytes")
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
            return [ChatError.FieldError(pointer: place, keyword: "json", detail: "the JSON is not accepted: \(error)")]
        }
        switch (ValidationResult(of: value, by: schema, within: &work), wanted) {
        case (.valid, true), (.invalid, false): return []
        case (.valid, false):
            return [
                ChatError.FieldError(
                    pointer: place, keyword: "counter_example",
                    detail: "the schema must reject this counter-example, but accepts it")
            ]
        case (.invalid(let report), true):
            return report.violations.map { ChatError.FieldError($0).below(place) }
        case (.exhausted(let budget), _):
            return [ChatError.FieldError(pointer: place, keyword: "limit", detail: budget.sentence)]
        }
    }
}
