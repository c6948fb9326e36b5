import JSON

/// What differs between two printings of one record, field by field, as `changes` of an event shows it.
struct RecordDifference {
    private struct Field {
        let name: String
        let old: JSONText?
        let new: JSONText?
    }

    private let fields: [Field]

    var isEmpty: Bool { fields.isEmpty }

    init(from old: JSONText, to new: JSONText) {
        let (before, after) = (Self.values(old), Self.values(new))
        let names = before.map(\.name) + after.map(\.name).filter { name in !before.contains { $0.name == name } }
        fields = names.compactMap { name in
            let old = before.first { $0.name == name }?.value
            let new = after.first { $0.name == name }?.value
            return old == new ? nil : Field(name: name, old: old, new: new)
        }
    }

    /// Prints the member `changes`; a side without a value is left out.
    func print(to writer: inout JSONWriter) {
        writer.key("changes")
        writer.beginArray()
        for field in fields {
            writer.beginObject()
            writer.member("key", field.name)
            if let old = field.old { writer.member("old", old) }
            if let new = field.new { writer.member("new", new) }
            writer.endObject()
        }
        writer.endArray()
    }

    private static func values(_ body: JSONText) -> [(name: String, value: JSONText)] {
        (body.rawMembers() ?? []).filter { $0.value != .null }
    }
}
