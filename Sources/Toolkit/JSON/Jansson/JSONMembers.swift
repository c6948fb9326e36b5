import CJansson
import Glibc

/// The members of an object in their order, each with its parsed value and its exact bytes.
///
/// An object of a request has few members, so a lookup compares the names one after another.
public struct JSONMembers: @unchecked Sendable {
    // `@unchecked Sendable` is safe for the reason given at `JSONValue`.
    private struct Member {
        let name: String
        let range: Range<Int>
        /// The parsed value; nil for the member that was parsed only as text.
        let node: UnsafeMutablePointer<json_t>?
    }

    private let document: JSONDocument
    private let text: JSONText
    private var members: [Member] = []

    /// The members of the root of a document; nil when the root is not an object.
    public init?(_ document: JSONDocument) {
        guard document.root.kind == .object else { return nil }
        self.document = document
        text = document.text
        var nodes = NodeCursor(object: document.tree)
        members.reserveCapacity(document.outerMembers.count)
        text.bytes.withUnsafeBufferPointer { bytes in
            for member in document.outerMembers { append(member.name, member.value, bytes, &nodes) }
        }
    }

    /// The members of a value inside a document; nil when the value is not an object.
    ///
    /// - Parameter text: the bytes of the value.
    public init?(_ value: JSONValue, text: JSONText) {
        // In a document with repeated names, the text may belong to another value of the same name.
        guard value.kind == .object, text.bytes.first == UInt8(ascii: "{") else { return nil }
        document = value.document
        self.text = text
        var nodes = NodeCursor(object: value.node)
        text.bytes.withUnsafeBufferPointer { bytes in
            JSONSpans(bytes: bytes).members(from: 0) { name, value in
                append(name, value, bytes, &nodes)
                return true
            }
        }
    }

    private mutating func append(
        _ name: Range<Int>, _ value: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>, _ nodes: inout NodeCursor
    ) {
        let name = JSONText.name(bytes, name)
        members.append(Member(name: name, range: value, node: nodes.next(named: name)))
    }

    /// The names that are not in `known`, in order.
    public func names(otherThan known: [String]) -> [String] {
        var others: [String] = []
        for member in members where !known.contains(member.name) { others.append(member.name) }
        return others
    }

    /// All members, in order, each with its bytes.
    public var all: [(name: String, value: JSONText)] { members.map { ($0.name, bytes($0)) } }

    /// True when there is a member with this name.
    public func contains(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// The parsed value of a member; nil when there is no such member, or when it was parsed only as text.
    public subscript(name: String) -> JSONValue? {
        members.first { $0.name == name }?.node.map { JSONValue(document: document, node: $0) }
    }

    /// The exact bytes of a member's value; nil when there is no such member.
    public func raw(_ name: String) -> JSONText? { members.first { $0.name == name }.map(bytes) }

    private func bytes(_ member: Member) -> JSONText { JSONText(trusted: Array(text.bytes[member.range])) }
}

/// Finds the nodes of an object's members. The members of a text have the order of jansson's iteration, so a lookup by
/// name is needed only for a member that the tree does not have, and after a repeated name.
private struct NodeCursor {
    private let object: UnsafeMutablePointer<json_t>
    private var position: UnsafeMutableRawPointer?

    init(object: UnsafeMutablePointer<json_t>) {
        self.object = object
        position = json_object_iter(object)
    }

    mutating func next(named name: String) -> UnsafeMutablePointer<json_t>? {
        var name = name
        return name.withUTF8 { name in
            name.withMemoryRebound(to: CChar.self) { name in
                if let position, let key = json_object_iter_key(position),
                    strncmp(key, name.baseAddress!, name.count) == 0,
                    key[name.count] == 0
                {
                    self.position = json_object_iter_next(object, position)
                    return json_object_iter_value(position)
                }
                return json_object_getn(object, name.baseAddress, name.count)
            }
        }
    }
}
