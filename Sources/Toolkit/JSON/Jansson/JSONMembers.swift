/// The members of an object in their order, each with its parsed value and its exact bytes.
///
/// An object of a request has few members, so a lookup compares the names one after another. The names are compared in
/// the text, without creating strings.
public struct JSONMembers: Sendable {
    private let value: JSONValue
    private let text: JSONText
    private let members: [TextScan.Member]

    /// The members of the root of a document; nil when the root is not an object.
    public init?(_ document: JSONDocument) {
        value = document.root
        guard value.kind == .object else { return nil }
        text = document.text
        members = document.outerMembers
    }

    /// The members of a value inside a document; nil when the value is not an object.
    ///
    /// - Parameter text: the bytes of the value.
    public init?(_ value: JSONValue, text: JSONText) {
        // In a document with repeated names, the text may belong to another value of the same name.
        guard value.kind == .object, text.bytes.first == UInt8(ascii: "{") else { return nil }
        self.value = value
        self.text = text
        members = text.bytes.withUnsafeBufferPointer { bytes in
            var members: [TextScan.Member] = []
            JSONSpans(bytes: bytes).members(from: 0) { name, value in
                members.append(TextScan.Member(name: name, value: value, in: bytes))
                return true
            }
            return members
        }
    }

    /// The names that are not in `known`, in order.
    public func names(otherThan known: [String]) -> [String] {
        text.bytes.withUnsafeBufferPointer { bytes in
            var others: [String] = []
            for member in members where !known.contains(where: { member.isNamed($0, in: bytes) }) {
                others.append(JSONText.name(bytes, member.name))
            }
            return others
        }
    }

    /// All members, in order, each with its bytes.
    public var all: [(name: String, value: JSONText)] {
        text.bytes.withUnsafeBufferPointer { bytes in members.map { (JSONText.name(bytes, $0.name), self.bytes($0)) } }
    }

    /// True when there is a member with this name.
    public func contains(_ name: String) -> Bool { member(name) != nil }

    /// The parsed value of a member; nil when there is no such member, or when it was parsed only as text.
    public subscript(name: String) -> JSONValue? { contains(name) ? value[name] : nil }

    /// The exact bytes of a member's value; nil when there is no such member.
    public func raw(_ name: String) -> JSONText? { member(name).map(bytes) }

    private func member(_ name: String) -> TextScan.Member? {
        text.bytes.withUnsafeBufferPointer { bytes in members.first { $0.isNamed(name, in: bytes) } }
    }

    private func bytes(_ member: TextScan.Member) -> JSONText { JSONText(trusted: Array(text.bytes[member.value])) }
}
