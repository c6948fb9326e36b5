/// The header fields of an answer, kept as the bytes that came and searched when asked.
///
/// An answer's header is received far more often than any field in it is wanted, so no strings are made up front.
public struct HeaderFields: Sendable {
    private let bytes: [UInt8]

    /// No fields.
    public init() { bytes = [] }

    /// Lines as received, each ending with LF or CRLF, without the status line.
    init(lines bytes: [UInt8]) { self.bytes = bytes }

    /// The value of the first field with this name (case-insensitive), without surrounding white space.
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

    /// Calls `body` with the bytes of each name and value, in the order received, until it says `false`. They may be no UTF-8.
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
    /// Fields in the order received, a repeated name once for each occurrence. Bytes that are not UTF-8 are replaced.
    public func makeIterator() -> Iterator { Iterator(lines: Lines(bytes: bytes)) }

    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate var lines: Lines<[UInt8]>

        public mutating func next() -> (name: String, value: String)? {
            lines.next().map { (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self)) }
        }
    }
}

/// Splits header lines. A line without a colon, or one that continues the line before it (obsolete since RFC 7230), is
/// passed over.
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
