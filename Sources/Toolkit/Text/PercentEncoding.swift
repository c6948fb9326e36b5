/// Percent-encoding of UTF-8 text (RFC 3986, section 2.1).
public enum PercentEncoding {
    /// A set of ASCII characters that are not encoded.
    public struct Kept: Sendable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        /// Creates the set of the ASCII bytes for which `isKept` returns true. All other bytes are always encoded.
        private init(_ isKept: (UInt8) -> Bool) {
            for byte in 0..<UInt8(64) where isKept(byte) { low |= 1 << UInt64(byte) }
            for byte in 0..<UInt8(64) where isKept(byte + 64) { high |= 1 << UInt64(byte) }
        }

        /// The unreserved characters of RFC 3986, section 2.3: letters, digits, and `-._~`.
        public static let unreserved = Kept { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
            default: false
            }
        }

        /// The unreserved characters without the tilde. PubNub's request signatures also encode the tilde.
        public static let unreservedWithoutTilde = Kept { $0 != 0x7E && unreserved.contains($0) }

        /// The characters that need no encoding in a header field value: visible ASCII without `"` and `%` (CloudEvents
        /// HTTP binding, section 3.1.3.2).
        public static let fieldValue = Kept { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x25 }

        func contains(_ byte: UInt8) -> Bool {
            byte < 128 && (byte < 64 ? low : high) & (1 << UInt64(byte & 63)) != 0
        }
    }

    /// Encodes all bytes of the text except the characters in `kept`. Uses upper-case hexadecimal digits.
    public static func encode(_ text: String, keeping kept: Kept = .unreserved) -> String {
        let escapes = text.utf8.reduce(0) { $0 + (kept.contains($1) ? 0 : 1) }
        guard escapes > 0 else { return text }
        return String(unsafeUninitializedCapacity: text.utf8.count + 2 * escapes) { buffer in
            var length = 0
            for byte in text.utf8 {
                if kept.contains(byte) {
                    buffer[length] = byte
                    length += 1
                } else {
                    buffer[length] = UInt8(ascii: "%")
                    buffer[length + 1] = upperCaseDigit(byte >> 4)
                    buffer[length + 2] = upperCaseDigit(byte & 15)
                    length += 3
                }
            }
            return length
        }
    }

    /// Decodes percent escapes once. Returns `nil` if an escape is invalid or the decoded bytes are not UTF-8.
    ///
    /// - Parameter plusIsSpace: true for forms and queries, in which `+` represents a space (WHATWG URL,
    ///   application/x-www-form-urlencoded).
    @inlinable
    public static func decode(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> String? {
        bytes.withContiguousStorageIfAvailable { text(decoding: $0, plusIsSpace: plusIsSpace) }
            ?? Array(bytes).withUnsafeBufferPointer { text(decoding: $0, plusIsSpace: plusIsSpace) }
    }

    /// Decodes percent escapes once. Returns `nil` if an escape is invalid. The result need not be UTF-8.
    public static func decodeBytes(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        bytes.withUnsafeBufferPointer { decoded($0, plusIsSpace: false) }
    }

    @usableFromInline
    static func text(decoding bytes: UnsafeBufferPointer<UInt8>, plusIsSpace: Bool) -> String? {
        // Most texts contain no escapes and are copied directly.
        guard firstEscape(in: bytes, from: 0, plusIsSpace: plusIsSpace) < bytes.count else { return text(bytes) }
        return decoded(bytes, plusIsSpace: plusIsSpace)?.withUnsafeBufferPointer(text)
    }

    private static func decoded(_ bytes: UnsafeBufferPointer<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var copied = 0
        while true {
            let escape = firstEscape(in: bytes, from: copied, plusIsSpace: plusIsSpace)
            decoded.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[copied..<escape]))
            guard escape < bytes.count else { return decoded }
            if bytes[escape] == 0x25 {
                guard escape + 2 < bytes.count, let high = Hex.value(of: bytes[escape + 1]),
                    let low = Hex.value(of: bytes[escape + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                copied = escape + 3
            } else {
                decoded.append(0x20)
                copied = escape + 1
            }
        }
    }

    /// The index of the first byte, not before `start`, that decoding changes; the number of bytes if there is none.
    private static func firstEscape(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, plusIsSpace: Bool
    ) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != 0x25, !(plusIsSpace && bytes[index] == 0x2B) { index += 1 }
        return index
    }

    /// The text of UTF-8 bytes; `nil` for other bytes.
    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        // `String(validating:)` is slow for short texts.
        var combined: UInt8 = 0
        for byte in bytes { combined |= byte }
        return combined < 0x80 ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }

    private static func upperCaseDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
