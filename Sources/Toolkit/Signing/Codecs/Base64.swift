/// Base64 encoding and decoding (RFC 4648, sections 4 and 5).
///
/// Encodes the standard alphabet with padding and the URL alphabet without padding. Decoding accepts texts with or
/// without padding but is otherwise strict. If several texts had the same value, a signature or a cursor could be
/// changed without becoming invalid.
public enum Base64 {
    private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let standardValues = values(of: standard)
    private static let urlValues = values(of: url)
    private static let pad = UInt8(ascii: "=")

    /// Encodes bytes in the standard alphabet, with padding.
    public static func encode(_ bytes: [UInt8]) -> String { encode(bytes, standard, padded: true) }

    /// Encodes bytes in the alphabet for URLs and file names, without padding.
    public static func encodeURL(_ bytes: [UInt8]) -> String { encode(bytes, url, padded: false) }

    /// Decodes a text in the standard alphabet, with complete padding or without padding. Returns `nil` for any other
    /// text, also if it contains white space or if unused bits of the last digit are set.
    public static func decode(_ text: String) -> [UInt8]? { decode(text[...].utf8, standardValues) }

    /// Decodes a part of a text, such as the part after a prefix, in the standard alphabet. Returns `nil` in the same
    /// cases as ``decode(_:)``.
    static func decode(_ text: Substring) -> [UInt8]? { decode(text.utf8, standardValues) }

    /// Decodes a text in the URL alphabet, with complete padding or without padding. Returns `nil` for any other text,
    /// also if it contains white space or if unused bits of the last digit are set.
    public static func decodeURL(_ text: String) -> [UInt8]? { decode(text[...].utf8, urlValues) }

    private static func encode(_ bytes: [UInt8], _ alphabet: [UInt8], padded: Bool) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { buffer in
            var length = 0
            var bits: UInt32 = 0
            var pending = 0
            func put(_ character: UInt8) {
                buffer[length] = character
                length += 1
            }
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                pending += 8
                while pending >= 6 {
                    pending -= 6
                    put(alphabet[Int(bits >> UInt32(pending) & 63)])
                }
            }
            if pending > 0 { put(alphabet[Int(bits << UInt32(6 - pending) & 63)]) }
            while padded, length % 4 != 0 { put(pad) }
            return length
        }
    }

    private static func decode(_ text: Substring.UTF8View, _ values: [UInt8]) -> [UInt8]? {
        let padding = text.suffix(2).reversed().prefix { $0 == pad }.count
        let digits = text.dropLast(padding)
        // A last group of one digit is invalid, because its six bits are less than a byte. Padding must complete the
        // last group of four digits.
        guard digits.count % 4 != 1, padding == 0 || (digits.count + padding) % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var pending = 0
        for character in digits {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            pending += 6
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
            }
        }
        return bits & (1 << UInt32(pending) - 1) == 0 ? bytes : nil
    }

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }
}
