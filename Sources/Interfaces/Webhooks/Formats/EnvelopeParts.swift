import JSON

/// The members of a printed envelope, each with its bytes.
struct EnvelopeParts {
    let members: [(name: String, value: JSONText)]

    init(_ envelope: [UInt8]) throws(FormatError) {
        guard let members = JSONText(trusted: envelope).rawMembers() else {
            throw FormatError("the event's stored form is no envelope")
        }
        self.members = members
    }

    subscript(name: String) -> JSONText? { members.first { $0.name == name }?.value }

    /// A member that is a text; nil where there is none.
    func text(_ name: String) -> String? {
        guard let bytes = self[name]?.bytes, bytes.count >= 2, bytes[0] == UInt8(ascii: "\"") else { return nil }
        // Most have nothing to unescape, and parsing costs ten times as much.
        if !bytes.contains(UInt8(ascii: "\\")) { return String(decoding: bytes[1..<bytes.count - 1], as: UTF8.self) }
        // It was printed by us, so it parses; if not, the member counts as absent.
        return (try? JSONDocument(bytes))?.root.string
    }
}
