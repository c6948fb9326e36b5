/// Percent-encoding (RFC 3986 section 2.1) for the URIs of schemas: normalization, and decoding to bytes that need not
/// be UTF-8. For other purposes, use `PercentEncoding` of the module Text.
enum Percent {
    /// Decodes the percent escapes of a text. Returns nil for a `%` that does not begin an escape, and for invalid
    /// UTF-8.
    static func decoded(_ text: some StringProtocol) -> String? {
        bytes(of: text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Decodes the percent escapes of a text into bytes. Returns nil for a `%` that does not begin an escape.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = escape(at: rest) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// Returns the text with an escape for each byte for which `allowed` returns false.
    static func encoded(_ text: some StringProtocol, allowed: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if allowed(byte) { bytes.append(byte) } else { append(escapeOf: byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Normalizes the escapes of a text. Escapes are in upper case, and unnecessary escapes are decoded. Each byte
    /// outside ASCII is escaped. A `%` that does not begin an escape is also escaped. All other characters are
    /// unchanged.
    static func normalised(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = escape(at: rest) {
                rest = rest.dropFirst(2)
                if isUnreserved(value) { bytes.append(value) } else { append(escapeOf: value, to: &bytes) }
            } else if byte < 0x80, byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                append(escapeOf: byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns true for an unreserved character (RFC 3986 section 2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }

    private static func escape(at text: Substring.UTF8View) -> UInt8? {
        let digits = text.prefix(2)
        guard digits.count == 2, let high = digits.first.flatMap(digit), let low = digits.last.flatMap(digit) else {
            return nil
        }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            byte & ~0x20 - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func append(escapeOf byte: UInt8, to bytes: inout [UInt8]) {
        let digits: [UInt8] = Array("0123456789ABCDEF".utf8)
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
