/// Percent-decoding of path segments and queries (RFC 3986, 2.1).
enum PercentEncoding {
    /// The decoded text of a path segment, or `nil` as ``decode(_:plusIsSpace:)`` and for control characters:
    /// a NUL or a line break in a name is an attack on whatever stores or logs it later.
    static func decodeSegment(_ bytes: some Collection<UInt8>) -> String? {
        guard let text = decode(bytes), !text.utf8.contains(where: ASCII.isControl) else { return nil }
        return text
    }

    /// The decoded text, or `nil` for a broken escape and for bytes that are not UTF-8.
    static func decode(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> String? {
        guard bytes.contains(where: { $0 == 0x25 || (plusIsSpace && $0 == 0x2B) }) else {
            return text(bytes)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position != bytes.endIndex {
            let byte = bytes[position]
            bytes.formIndex(after: &position)
            switch byte {
            case 0x25:
                guard let high = hexDigit(of: bytes, at: &position), let low = hexDigit(of: bytes, at: &position) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            case 0x2B where plusIsSpace:
                decoded.append(0x20)
            default:
                decoded.append(byte)
            }
        }
        return text(decoded)
    }

    private static func hexDigit<Bytes: Collection<UInt8>>(of bytes: Bytes, at position: inout Bytes.Index) -> UInt8? {
        guard position != bytes.endIndex else { return nil }
        defer { bytes.formIndex(after: &position) }
        return ASCII.hexValue(bytes[position])
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        String(validating: bytes, as: UTF8.self)
    }
}
