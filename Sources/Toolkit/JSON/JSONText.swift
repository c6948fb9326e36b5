/// One JSON value as text: the exact bytes that its sender wrote, known to be valid UTF-8 JSON.
///
/// Payloads pass through the program in this form and are never printed again from parsed values. Number spelling, key
/// order and escapes are preserved, and a signature over the bytes stays valid. Only `JSONDocument` (checked input),
/// `JSONWriter` (the program's own output) and a storage engine that reads back what it stored may create one.
public struct JSONText: Sendable, Hashable {
    /// The UTF-8 bytes, without byte order mark and surrounding white space.
    public let bytes: [UInt8]

    /// Creates a value from bytes that the caller knows to be one valid JSON value: read back from the store, or
    /// printed by the program.
    public init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a JSON string value, escaping the text.
    public init(string: String) {
        var writer = JSONWriter(capacity: string.utf8.count + 8)
        writer.string(string)
        bytes = writer.bytes
    }

    /// The value `null`.
    public static let null = JSONText(trusted: Array("null".utf8))
    /// The value `{}`.
    public static let emptyObject = JSONText(trusted: Array("{}".utf8))

    /// The length in bytes, which the limits on `data` and `meta` apply to.
    public var count: Int { bytes.count }
}

extension JSONText: CustomStringConvertible {
    /// The bytes as a string.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONText {
    /// True when both texts have the same tokens, so that they differ in white space at most. Both are valid JSON.
    public func hasTokens(of other: JSONText) -> Bool {
        bytes == other.bytes || TokenBytes(bytes).elementsEqual(TokenBytes(other.bytes))
    }

    /// Returns `value`, or this text if they differ in white space alone.
    public func replaced(by value: JSONText) -> JSONText { hasTokens(of: value) ? self : value }

    /// Returns this value after a merge patch (RFC 7396): objects are merged member by member at every depth, `null`
    /// removes a member, and any other value replaces what is there. Members that the patch does not name, and those
    /// whose value it repeats with other white space, keep their bytes and their position. A patch that changes nothing
    /// returns this text.
    ///
    /// Takes time proportional to the size of both values. Recursion is as deep as the patch, which the parser has
    /// limited.
    public func merging(_ patch: JSONText) -> JSONText {
        guard let changes = patch.rawMembers() else { return replaced(by: patch) }
        let present = rawMembers()
        var members: [(name: String, value: JSONText)?] = present ?? []
        var isChanged = present == nil
        // Keyed by bytes: strings that are canonically equivalent are different names.
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

    /// Returns the merge patch (RFC 7396) that turns this value into the wanted one. A member of the wanted value that
    /// is `null` cannot be expressed in a merge patch and is left out.
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

    /// Creates an object of these members, each with the bytes of its value.
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
