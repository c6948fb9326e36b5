import JSON

/// A JSON value with references in it: `{"$":"body"}`, `{"repo":{"$":"body/repository/name","default":null}}`, texts with
/// braces, and constants.
indirect enum ValueTemplate: Sendable {
    case constant(JSONText)
    case text(TextTemplate)
    case reference(Reference, fallback: JSONText?)
    case object([(name: String, value: ValueTemplate)])
    case array([ValueTemplate])

    /// What cannot be rendered.
    enum Obstacle: Error {
        case missing([Reference])
        case tooLarge(limitBytes: Int)
    }

    /// Prints the value with every reference filled in.
    ///
    /// - Parameter limitBytes: printing stops there; a few references to a large body could otherwise make a value many
    ///   times its size.
    func render(_ post: MappedPost, limitBytes: Int) throws(Obstacle) -> JSONText {
        // The whole of something: the same bytes, nothing copied.
        if case .reference(let reference, let fallback) = self {
            guard let value = post.json(of: reference) ?? fallback else { throw .missing([reference]) }
            guard value.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
            return value
        }
        var writer = JSONWriter()
        var missing: [Reference] = []
        try print(to: &writer, post, limitBytes, &missing)
        guard missing.isEmpty else { throw .missing(missing) }
        guard writer.bytes.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
        return writer.text
    }

    private func print(
        to writer: inout JSONWriter, _ post: MappedPost, _ limitBytes: Int, _ missing: inout [Reference]
    ) throws(Obstacle) {
        guard writer.bytes.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
        switch self {
        case .constant(let value): writer.raw(value)
        case .text(let template):
            do throws(MissingValues) {
                writer.string(try template.render(post))
            } catch {
                missing += error.references
                writer.null()
            }
        case .reference(let reference, let fallback):
            if let value = post.json(of: reference) ?? fallback {
                writer.raw(value)
            } else {
                missing.append(reference)
                writer.null()
            }
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(text: member.name)
                try member.value.print(to: &writer, post, limitBytes, &missing)
            }
            writer.endObject()
        case .array(let elements):
            writer.beginArray()
            for element in elements { try element.print(to: &writer, post, limitBytes, &missing) }
            writer.endArray()
        }
    }
}
