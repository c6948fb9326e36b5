/// The header fields of a response. The value stores the received bytes and searches them when a field is requested.
///
/// Strings are created only for the requested fields, because most fields are never read.
public struct HeaderFields: Sendable {
    private let bytes: [UInt8]

    /// Creates an empty list of fields.
    public init() { bytes = [] }

    /// Creates the fields from the received lines, without the status line. Each line ends with LF or CRLF.
    init(lines bytes: [UInt8]) { self.bytes = bytes }

    /// The value of the first field with this name (case-insensitive), without surrounding white space; `nil` when
    /// there is none.
    public subscript(name: String) -> String? {
        let wanted = name.utf8.map(Self.lowercased)
        var lines = Lines(bytes: bytes)
        while let line = lines.next() {
            if line.name.count == wanted.count, line.name.lazy.map(Self.lowercased).elementsEqual(wanted) {
                return String(decoding: line.value, as: UTF8.self)
            }
        }
        return nil
    }

    /// Calls `body` with the bytes of each name and value, in the received order, until `body` returns false. The bytes
    /// may be invalid UTF-8.
    public func visit(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool) {
        bytes.withUnsafeBufferPointer { bytes in
            var lines = Lines(bytes: bytes)
            while let line = lines.next() {
                guard body(UnsafeBufferPointer(rebasing: line.name), UnsafeBufferPointer(rebasing: line.value)) else {
                    return
                }
            }
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HeaderFields: Sequence {
    /// Returns an iterator over the fields in the received order. Fields with the same name are returned separately.
    /// Invalid UTF-8 is replaced by U+FFFD.
    public func makeIterator() -> Iterator { Iterator(lines: Lines(bytes: bytes)) }

    /// Iterates over the header fields.
    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate var lines: Lines<[UInt8]>

        /// Returns the next field; `nil` at the end.
        public mutating func next() -> (name: String, value: String)? {
            lines.next().map { (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self)) }
        }
    }
}

/// Splits header lines into names and values. Skips lines without a colon, and lines that continue the previous line
/// (obsolete since RFC 7230).
private struct Lines<Bytes: RandomAccessCollection<UInt8>> where Bytes.Index == Int {
    let bytes: Bytes
    var position = 0

    init(bytes: Bytes) { self.bytes = bytes }

    mutating func next() -> (name: Bytes.SubSequence, value: Bytes.SubSequence)? {
        while position < bytes.count {
            let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let line = bytes[position..<end]
            position = end + 1
            guard let first = line.first, !Self.isBlank(first), let colon = line.firstIndex(of: UInt8(ascii: ":"))
            else {
                continue
            }
            return (line[..<colon], Self.trimmed(line[(colon + 1)...]))
        }
        return nil
    }

    private static func trimmed(_ bytes: Bytes.SubSequence) -> Bytes.SubSequence {
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return bytes.prefix(0) }
        return bytes[first...last]
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}

extension Lines: Sendable where Bytes: Sendable {}
