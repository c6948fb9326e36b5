import JSON

/// A JSON Schema inside another document. Tools resolve `#/…` from the document's root, so references that begin at the
/// schema's own root are printed with the schema's place in front.
struct EmbeddedSchema {
    /// Where the schema will stand, `#/components/schemas/order.paid.v3/schema` for instance.
    let place: String

    /// What a value stands for inside a schema: `$ref` is a reference only where a schema is expected.
    private enum Role {
        case schema
        /// An object with a schema for each name, such as `properties`.
        case schemas
        case value
    }

    /// Prints the schema as the next value of `writer`; but for those references byte for byte.
    func print(_ schema: JSONText, to writer: inout JSONWriter) { print(schema, as: .schema, to: &writer) }

    private func print(_ text: JSONText, as role: Role, to writer: inout JSONWriter) {
        guard role != .value else { return writer.raw(text) }
        if let members = text.rawMembers() {
            guard role != .schema || !Self.hasBase(members) else { return writer.raw(text) }
            writer.beginObject()
            for (name, value) in members {
                writer.key(text: name)
                switch role {
                case .schema where name == "$ref": printReference(value, to: &writer)
                case .schema: print(value, as: Self.role(of: name), to: &writer)
                case .schemas, .value: print(value, as: .schema, to: &writer)
                }
            }
            writer.endObject()
        } else if let elements = text.rawElements() {
            writer.beginArray()
            for element in elements { print(element, as: .schema, to: &writer) }
            writer.endArray()
        } else {
            writer.raw(text)
        }
    }

    private func printReference(_ value: JSONText, to writer: inout JSONWriter) {
        guard let target = Self.string(value), target == "#" || target.hasPrefix("#/") else { return writer.raw(value) }
        writer.string(place + target.dropFirst())
    }

    /// A schema with an identifier of its own is the root of what its references mean (2020-12 core, 8.2.1).
    private static func hasBase(_ members: [(name: String, value: JSONText)]) -> Bool {
        members.contains { name, value in
            (name == "$id" || name == "id") && string(value).map { !$0.hasPrefix("#") } == true
        }
    }

    private static func string(_ text: JSONText) -> String? {
        // A part of a text that parsed parses as well; what is no string has none.
        try? JSONDocument(text).root.string
    }

    private static func role(of keyword: String) -> Role {
        switch keyword {
        case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies": .schemas
        case "const", "enum", "default", "examples": .value
        default: .schema
        }
    }
}
