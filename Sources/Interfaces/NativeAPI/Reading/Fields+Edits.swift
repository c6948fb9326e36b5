import ChatModel
import JSON

/// Fields of records as requests change them: what is absent stays, `null` clears, a value is set.
extension Fields {
    func edit(_ name: String) throws(ChatError) -> FieldEdit<String> {
        has(name) ? FieldEdit(try string(name)) : .keep
    }

    func edit(flag name: String) throws(ChatError) -> FieldEdit<Bool> {
        has(name) ? FieldEdit(try boolean(name)) : .keep
    }

    /// Any JSON, byte for byte.
    func edit(value name: String) -> FieldEdit<JSONText> {
        has(name) ? FieldEdit(member(name) == nil ? nil : raw(name)) : .keep
    }

    /// An object of the sender's own, byte for byte.
    func edit(object name: String) throws(ChatError) -> FieldEdit<JSONText> {
        _ = try object(name, known: nil)
        return edit(value: name)
    }

    /// An object whose members are all texts.
    func edit(texts name: String) throws(ChatError) -> FieldEdit<[String: String]> {
        guard has(name) else { return .keep }
        guard let object = try object(name, known: nil) else { return .clear }
        var texts: [String: String] = [:]
        for (key, _) in object.members { texts[key] = try object.required(key, try object.string(key)) }
        return .set(texts)
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
