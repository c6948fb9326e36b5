import JSON

/// `contentEncoding` base64 and `contentMediaType` JSON, checked only when asked for.
enum Content {
    /// - Parameter demand: 1 base64, 2 JSON, 3 JSON in base64.
    static func accepts(_ text: UnsafeBufferPointer<UInt8>, _ demand: UInt32) -> Bool {
        guard demand & 1 != 0 else { return isJSON(Array(text)) }
        guard let bytes = base64Decoded(text) else { return false }
        return demand & 2 == 0 || isJSON(bytes)
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        // Only whether it parses is asked for.
        (try? JSONDocument(bytes, numbers: .lenient, duplicates: .lastWins)) != nil
    }

    /// RFC 4648 section 4, with its padding.
    private static func base64Decoded(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var decoded: [UInt8] = []
        var word: UInt32 = 0
        for (position, byte) in text.dropLast(padding).enumerated() {
            guard let digit = digit(byte) else { return nil }
            word = word << 6 | digit
            if position & 3 == 3 { decoded += [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)] }
        }
        switch padding {
        case 1: decoded += [UInt8(word >> 10 & 255), UInt8(word >> 2 & 255)]
        case 2: decoded.append(UInt8(word >> 4 & 255))
        default: break
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
