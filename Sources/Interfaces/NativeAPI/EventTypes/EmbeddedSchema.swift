import JSON

/// Embeds a JSON Schema in another document. Tools resolve every `$ref` from the root of the outer document, so each
/// reference to the schema's own root gets the schema's location as its prefix.
enum EmbeddedSchema {
    /// Returns the text of the schema for a location such as `#/components/schemas/order.paid.v3/schema`. The text is
    /// unchanged except for its references and the identifier of its root, which is removed.
    ///
    /// - Returns: nil when a reference would change its meaning at the new location. Such a reference names an anchor
    ///   or another document, or is inside a schema with its own identifier. A member `$ref` of a plain value also
    ///   gives nil.
    static func text(_ schema: JSONText, at place: String) -> JSONText? { text(schema, as: .root, place) }

    /// Returns true when a value has a member `$ref`, which tools would resolve as a reference.
    static func holdsReference(_ value: JSONText) -> Bool { text(value, as: .value, "") == nil }

    /// The role of a value inside a schema.
    private enum Role {
        case root, schema
        /// An object that maps names to schemas, such as `properties`.
        case schemas
        /// A JSON value that is not a schema, such as a default. It must not contain `$ref`.
        case value
    }

    private static func text(_ text: JSONText, as role: Role, _ place: String) -> JSONText? {
        if let members = text.rawMembers() { return object(members, as: role, place) }
        guard let elements = text.rawElements() else { return text }
        let printed = elements.compactMap { Self.text($0, as: role == .value ? .value : .schema, place) }
        guard printed.count == elements.count else { return nil }
        return JSONText(capacity: text.count) { writer in
            writer.beginArray()
            for element in printed { writer.raw(element) }
            writer.endArray()
        }
    }

    private static func object(
        _ members: [(name: String, value: JSONText)], as role: Role, _ place: String
    ) -> JSONText? {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in members {
            // The identifier of the root is left out. References refer to the root, so their meaning does not change.
            if role == .root, isIdentifier(name, value) { continue }
            guard let printed = member(name, value, in: role, place) else { return nil }
            writer.key(text: name)
            writer.raw(printed)
        }
        writer.endObject()
        return writer.text
    }

    private static func member(_ name: String, _ value: JSONText, in role: Role, _ place: String) -> JSONText? {
        switch role {
        case .value: name == "$ref" ? nil : text(value, as: .value, place)
        case .schemas: text(value, as: .schema, place)
        case .root, .schema:
            if name == "$ref" {
                reference(value, place)
            } else {
                isIdentifier(name, value) ? nil : text(value, as: self.role(of: name), place)
            }
        }
    }

    private static func reference(_ value: JSONText, _ place: String) -> JSONText? {
        guard let target = string(value), target == "#" || target.hasPrefix("#/") else { return nil }
        return JSONText(string: place + target.dropFirst())
    }

    /// Returns true for a keyword that gives a schema a base URI of its own (2020-12 core, 8.2.1; `id` in draft 04).
    private static func isIdentifier(_ name: String, _ value: JSONText) -> Bool {
        (name == "$id" || name == "id") && string(value) != nil
    }

    /// The string that a JSON text represents; nil for another value. The text is part of a parsed document, so it can
    /// be parsed.
    private static func string(_ text: JSONText) -> String? { try? JSONDocument(text).root.string }

    private static func role(of keyword: String) -> Role {
        switch keyword {
        case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies": .schemas
        case "const", "enum", "default", "examples": .value
        default: .schema
        }
    }
}
