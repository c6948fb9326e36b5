import ChatModel
import JSON

/// Fields of records as requests change them: what is absent stays, `null` clears, a value is set.
extension Fields {
    /// - Parameter replacing: whether an absent member is cleared.
    func edit(_ name: String, replacing: Bool = false) throws(ChatError) -> FieldEdit<String> {
        has(name) || replacing ? FieldEdit(try string(name)) : .keep
    }

    func edit(flag name: String) throws(ChatError) -> FieldEdit<Bool> {
        has(name) ? FieldEdit(try boolean(name)) : .keep
    }

    /// Any JSON, byte for byte.
    func edit(value name: String) -> FieldEdit<JSONText> {
        has(name) ? FieldEdit(member(name) == nil ? nil : raw(name)) : .keep
    }

    /// An object of the sender's own, byte for byte.
    func edit(object name: String, replacing: Bool = false) throws(ChatError) -> FieldEdit<JSONText> {
        _ = try object(name, known: nil)
        return has(name) || !replacing ? edit(value: name) : .clear
    }

    /// An object whose members are all texts.
    func edit(texts name: String) throws(ChatError) -> FieldEdit<[String: String]> {
        guard has(name) else { return .keep }
        guard let object = try object(name, known: nil) else { return .clear }
        var texts: [String: String] = [:]
        for (key, _) in object.members { texts[key] = try object.required(key, try object.string(key)) }
        return .set(texts)
    }

    /// The members that are `null`: a merge patch removes them.
    var nullNames: [String] { members.filter { $0.value == .null }.map(\.name) }

    /// - Throws: `.malformed`, slug `wrong_type`, for the first member that is `null`.
    func refuseNull() throws(ChatError) {
        guard let name = nullNames.first else { return }
        throw fault(name, "type", "must not be null", slug: "wrong_type")
    }

    /// One of the words of an enumeration.
    func word<Word: RawRepresentable & CaseIterable>(_ name: String, _: Word.Type) throws(ChatError) -> Word?
    where Word.RawValue == String {
        guard let text = try string(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw fault(name, "enum", "must be one of \(known)")
        }
        return word
    }
}
