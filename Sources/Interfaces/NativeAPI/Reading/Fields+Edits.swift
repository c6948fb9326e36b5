import ChatModel
import JSON

/// Parses changes of record fields. An absent member keeps the field, `null` clears the field, a value sets the field.
extension Fields {
    /// Parses the change of a field with a text.
    ///
    /// - Parameter replacing: true when an absent member clears the field.
    func edit(_ name: String, replacing: Bool = false) throws(ChatError) -> FieldEdit<String> {
        has(name) || replacing ? FieldEdit(try string(name)) : .keep
    }

    func edit(flag name: String) throws(ChatError) -> FieldEdit<Bool> {
        has(name) ? FieldEdit(try boolean(name)) : .keep
    }

    /// Parses the change of a field with any JSON value. The bytes of the value are kept. A value that differs from the
    /// current value only in white space changes nothing.
    ///
    /// - Parameter merging: true when an object is merged into the current object as a merge patch (RFC 7396).
    func edit(value name: String, merging: Bool = false) -> FieldEdit<JSONText> {
        guard let value = raw(name) else { return .keep }
        guard member(name) != nil else { return .clear }
        return .change { present in
            merging ? (present ?? .null).merging(value) : present?.replaced(by: value) ?? value
        }
    }

    /// Parses the change of a field whose value must be an object. The bytes of the object are kept.
    func edit(
        object name: String, replacing: Bool = false, merging: Bool = false
    ) throws(ChatError) -> FieldEdit<JSONText> {
        _ = try object(name, known: nil)
        return has(name) || !replacing ? edit(value: name, merging: merging) : .clear
    }

    /// Parses the change of a field with an object whose members are all texts.
    ///
    /// - Parameter merging: true when the texts are added to the current texts. A `null` then removes a text.
    func edit(texts name: String, merging: Bool = false) throws(ChatError) -> FieldEdit<[String: String]> {
        guard has(name) else { return .keep }
        guard let object = try object(name, known: nil) else { return .clear }
        var texts: [String: String] = [:]
        let removed = merging ? Set(object.nullNames.map { ExactText($0) }) : []
        for member in object.members where !removed.contains(ExactText(member.name)) {
            guard let text = try object.string(of: member) else {
                throw object.fault(member.name, "type", "expected string, got null", slug: "wrong_type")
            }
            texts[member.name] = text
        }
        guard merging else { return .set(texts) }
        return .change { [texts] present in
            (present ?? [:]).filter { !removed.contains(ExactText($0.key)) }.merging(texts) { $1 }
        }
    }

    /// The names of the members that are `null`. A merge patch removes these members.
    var nullNames: [String] { members.filter { $0.value == .null }.map(\.name) }

    /// Rejects members that are `null`.
    ///
    /// - Throws: `.malformed`, slug `wrong_type`, for the first such member.
    func refuseNull() throws(ChatError) {
        guard let name = nullNames.first else { return }
        throw fault(name, "type", "must not be null", slug: "wrong_type")
    }
}
