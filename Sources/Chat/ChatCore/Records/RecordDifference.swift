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
        self.init(from: old.rawMembers() ?? [], to: new.rawMembers() ?? [])
    }

    /// Compares members by their names; a value of null is none.
    init(from old: [(name: String, value: JSONText)], to new: [(name: String, value: JSONText)]) {
        let (before, after) = (old.filter { $0.value != .null }, new.filter { $0.value != .null })
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
}
