import JSON
import JSONSchema

extension SchemaVersion {
    /// Whether tools that know JSON Schema draft 07 alone can read the schema: what its dialect has beyond that, they
    /// pass over.
    public var isReadableAsDraft07: Bool {
        guard let metaschema = Self.draft07, let value = try? JSONDocument(schema.bytes, limits: .schema).root else {
            return false
        }
        var work = ValidationBudget()
        return ScratchPool.shared.verdict(on: value, by: metaschema, within: &work.budget) == .valid
    }

    /// Compiles always; a gateway that could not would say of every schema that it cannot be read.
    private static let draft07: Schema? = {
        let text = JSONText { writer in
            writer.beginObject()
            writer.member("$schema", "http://json-schema.org/draft-07/schema#")
            writer.member("$ref", "http://json-schema.org/draft-07/schema#")
            writer.endObject()
        }
        return try? Schema(JSONDocument(text))
    }()
}

extension JSONLimits {
    /// As deep as the parser goes: how deep a schema may be was said when it was declared.
    fileprivate static let schema = JSONLimits(depth: 2000)
}
