/// One JSON value as text: the exact bytes that its sender wrote. The bytes are known to be valid JSON in UTF-8.
///
/// The program stores and forwards payloads in this form and never prints them again from parsed values. The format of
/// numbers, the order of members and the escapes are therefore preserved, and a signature over the bytes stays valid.
/// Only `JSONDocument` (checked input), `JSONWriter` (the program's own output) and a storage engine that reads stored
/// values may create a `JSONText`.
public struct JSONText: Sendable, Hashable {
    /// The UTF-8 bytes, without byte order mark and surrounding white space.
    public let bytes: [UInt8]

    /// Creates a value from bytes without checking them. The caller must know that the bytes are one valid JSON value,
    /// for instance because they were read from the store or printed by the program.
    public init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a JSON string with this text. Characters are escaped where JSON requires it.
    public init(string: String) {
        var writer = JSONWriter(capacity: string.utf8.count + 8)
        writer.string(string)
        bytes = writer.bytes
    }

    /// The value `null`.
    public static let null = JSONText(trusted: Array("null".utf8))
    /// The value `{}`.
    public static let emptyObject = JSONText(trusted: Array("{}".utf8))

    /// The length in bytes. The limits on `data` and `meta` apply to this length.
    @inlinable public var count: Int { bytes.count }
}

extension JSONText: CustomStringConvertible {
    /// The bytes as a string.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONText {
    /// True when both texts consist of the same JSON tokens, so that they differ only in white space.
    public func hasTokens(of other: JSONText) -> Bool {
        bytes == other.bytes || TokenBytes(bytes).elementsEqual(TokenBytes(other.bytes))
    }

    /// Returns this text if it differs from `value` only in white space; otherwise returns `value`.
    public func replaced(by value: JSONText) -> JSONText { hasTokens(of: value) ? self : value }

    /// Returns this value after a merge patch (RFC 7396): objects are merged member by member at every depth, `null`
    /// removes a member, and any other value replaces the existing value. A member keeps its bytes and its position if
    /// the patch does not contain it or contains the same value with different white space. If the patch changes
    /// nothing, returns this text.
    ///
    /// The time is proportional to the size of both values. The recursion is as deep as the nesting of the patch, which
    /// the parser has limited.
    public func merging(_ patch: JSONText) -> JSONText {
        guard let changes = patch.rawMembers() else { return replaced(by: patch) }
        let present = rawMembers()
        var members: [(name: String, value: JSONText)?] = present ?? []
        var isChanged = present == nil
        // The dictionary is keyed by bytes, because Swift treats canonically equivalent strings as equal, but they are
        // different names in JSON.
        var places: [[UInt8]: Int] = [:]
        for (index, member) in members.enumerated() { if let member { places[Array(member.name.utf8)] = index } }
        for change in changes {
            let name = Array(change.name.utf8)
            if change.value == .null {
                guard let index = places.removeValue(forKey: name) else { continue }
                isChanged = true
                members[index] = nil
            } else if let index = places[name], let member = members[index] {
                let value = member.value.merging(change.value)
                isChanged = isChanged || value != member.value
                members[index] = (member.name, value)
            } else {
                isChanged = true
                places[name] = members.count
                members.append((change.name, JSONText.null.merging(change.value)))
            }
        }
        return isChanged ? JSONText(members: members.compactMap(\.self)) : self
    }

    /// Returns the merge patch (RFC 7396) that changes this value into `wanted`. A merge patch cannot set a member to
    /// `null`, so members of `wanted` with the value `null` are left out.
    public func mergePatch(to wanted: JSONText) -> JSONText {
        guard let wantedMembers = wanted.rawMembers(), let members = rawMembers() else { return wanted }
        func value(_ name: String, in members: [(name: String, value: JSONText)]) -> JSONText? {
            members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
        }
        var changes: [(name: String, value: JSONText)] = []
        for member in members where value(member.name, in: wantedMembers) == nil {
            changes.append((member.name, .null))
        }
        for member in wantedMembers {
            guard let present = value(member.name, in: members) else {
                changes.append(member)
                continue
            }
            if present != member.value { changes.append((member.name, present.mergePatch(to: member.value))) }
        }
        return JSONText(members: changes)
    }

    /// Creates an object with these members, in this order. The bytes of each value are used unchanged.
    public init(members: [(name: String, value: JSONText)]) {
        self.init(capacity: members.reduce(2) { $0 + $1.name.utf8.count + $1.value.count + 4 }) { writer in
            writer.beginObject()
            for member in members {
                writer.key(text: member.name)
                writer.raw(member.value)
            }
            writer.endObject()
        }
    }
}

/// The bytes of a valid JSON text without the white space between its tokens.
private struct TokenBytes: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    private var isInString = false
    private var isEscaped = false

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func next() -> UInt8? {
        while let byte = rest.popFirst() {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                return byte
            }
            if byte == UInt8(ascii: "\"") { isInString = true }
            if byte != 0x20, byte != 0x0A, byte != 0x0D, byte != 0x09 { return byte }
        }
        return nil
    }
}
