/// Hexadecimal encoding and decoding (Base16, RFC 4648, section 8). Encodes in lower case and decodes both cases.
public enum Hex {
    /// Returns the bytes as text, with two lower-case digits for each byte.
    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var index = 0
            for byte in bytes {
                buffer[index] = digit(byte >> 4)
                buffer[index + 1] = digit(byte & 15)
                index += 2
            }
            return index
        }
    }

    /// Decodes hexadecimal digits. Returns `nil` when the number of digits is odd, or when the text contains a
    /// character that is not a hexadecimal digit.
    public static func decode(_ text: String) -> [UInt8]? { decode(text[...]) }

    /// Decodes a part of a text, such as the part after a prefix. Returns `nil` when the number of digits is odd, or
    /// when the part contains a character that is not a hexadecimal digit.
    public static func decode(_ text: Substring) -> [UInt8]? {
        var text = text
        return text.withUTF8 { digits in
            guard digits.count.isMultiple(of: 2) else { return nil }
            var isValid = true
            let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 2) { bytes, count in
                for index in 0..<digits.count / 2 {
                    let (high, low) = (value(of: digits[2 * index]), value(of: digits[2 * index + 1]))
                    isValid = isValid && high != nil && low != nil
                    bytes[index] = (high ?? 0) << 4 | (low ?? 0)
                }
                count = digits.count / 2
            }
            return isValid ? bytes : nil
        }
    }

    /// Returns the lower-case ASCII digit for a value from 0 to 15.
    @inlinable public static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }

    /// Returns the value of an ASCII digit in upper or lower case; `nil` for any other byte.
    @inlinable public static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit &- 0x30
        case 0x41...0x46: digit &- 0x41 &+ 10
        case 0x61...0x66: digit &- 0x61 &+ 10
        default: nil
        }
    }
}
