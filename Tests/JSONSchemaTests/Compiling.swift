import JSON
import JSONSchema

/// Compiles a test's schema without a time limit: compile time in a debug build on a busy machine is no measure.
func compiled(
    _ text: String, _ change: (inout SchemaOptions) -> Void = { _ in }
) throws -> Schema {
    var options = SchemaOptions(formats: .annotate)
    options.limits.compileMilliseconds = 60_000
    change(&options)
    return try Schema(try document(text), options: options)
}

func document(_ text: String, depth: Int = 2048) throws -> JSONDocument {
    try JSONDocument(Array(text.utf8), limits: JSONLimits(depth: depth))
}

extension Schema {
    func verdict(on text: String) throws -> Verdict {
        var scratch = Scratch()
        return verdict(on: try document(text).root, scratch: &scratch)
    }

    func violations(on text: String) throws -> [Violation] { report(on: try document(text).root).violations }
}

/// The error of an invalid schema; nil for a valid one.
func refusal(of text: String, _ change: (inout SchemaOptions) -> Void = { _ in }) throws -> SchemaError? {
    do {
        _ = try compiled(text, change)
        return nil
    } catch let refusal as SchemaError {
        return refusal
    }
}
