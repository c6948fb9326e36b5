import JSON

/// Puts a JSON Schema into another document. The document's tools resolve every `$ref` from the document's root, whatever
/// stands around it, so references that begin at the schema's own root get the schema's place in front.
enum EmbeddedSchema {
    /// The schema as it stands at a place, `#/components/schemas/order.paid.v3/schema` for instance: byte for byte but for
    /// its references and the identifier of its root.
    ///
    /// - Returns: nil when some reference would mean something else there: to an anchor or another document, below an
    ///   identifier of its own, or where `$ref` is only a name in a value.
    static func text(_ schema: JSONText, at place: String) -> JSONText? { text(schema, as: .root, place) }

    /// Whether a value has a member that tools would take for a reference.
    static func holdsReference(_ value: JSONText) -> Bool { text(value, as: .value, "") == nil }

    /// What a value stands for inside a schema.
    private enum Role {
        case root, schema
        /// An object with a schema for each name, such as `properties`.
        case schemas
        /// Any JSON.
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
            // Without it, the references mean what they meant: they are those to the root.
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

    /// What gives a schema a base of its own (2020-12 core, 8.2.1; `id` in draft 04).
    private static func isIdentifier(_ name: String, _ value: JSONText) -> Bool {
        (name == "$id" || name == "id") && string(value) != nil
    }

    /// Nil for what is no string; a part of a text that parsed parses as well.
    private static func string(_ text: JSONText) -> String? { try? JSONDocument(text).root.string }

    private static func role(of keyword: String) -> Role {
        switch keyword {
        case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies": .schemas
        case "const", "enum", "default", "examples": .value
        default: .schema
        }
    }
}
