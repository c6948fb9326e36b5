/// One JSON value as text: the exact bytes its sender wrote, known to be valid UTF-8 JSON.
///
/// Payloads travel through the program in this form and are never printed again from parsed values: number spelling,
/// key order and escapes survive, and a signature over the bytes stays true. Only `JSONDocument` (checked input),
/// `JSONWriter` (our own output) and an engine reading back what it stored may make one.
public struct JSONText: Sendable, Hashable {
    /// UTF-8, no byte order mark; surrounding white space has been cut.
    public let bytes: [UInt8]

    /// Takes bytes that the caller knows to be one valid JSON value: read back from the store, or printed by us.
    public init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// A JSON string value, escaped.
    public init(string: String) {
        var writer = JSONWriter(capacity: string.utf8.count + 8)
        writer.string(string)
        bytes = writer.bytes
    }

    public static let null = JSONText(trusted: Array("null".utf8))
    public static let emptyObject = JSONText(trusted: Array("{}".utf8))

    /// Length in bytes; what the limits on `data` and `meta` count.
    public var count: Int { bytes.count }
}

extension JSONText: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
