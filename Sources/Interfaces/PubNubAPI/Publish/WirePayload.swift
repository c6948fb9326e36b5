import JSON

/// A payload as it was sent: any JSON value, its bytes untouched, and as it was parsed.
struct WirePayload {
    let text: JSONText
    let value: JSONValue

    /// Nil for what is no JSON (RFC 8259).
    ///
    /// Names may repeat and numbers be of any size, as readers get the text and not what was parsed of it.
    init?(_ bytes: [UInt8], depth: Int) {
        guard let document = Self.parse(bytes, depth) ?? Self.parse(Self.withoutExponents(bytes), depth) else {
            return nil
        }
        value = document.root
        let start = bytes.firstIndex { !Self.isSpace($0) } ?? 0
        text = JSONText(trusted: Array(bytes[start..<start + document.text.count]))
    }

    private static func parse(_ bytes: [UInt8], _ depth: Int) -> JSONDocument? {
        // What was wrong is no news: this wire has one text for all of it.
        try? JSONDocument(bytes, limits: JSONLimits(depth: depth), numbers: .lenient, duplicates: .lastWins)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// The same text with every exponent zero: the parser refuses `1e400`, which is JSON all the same.
    private static func withoutExponents(_ bytes: [UInt8]) -> [UInt8] {
        var output = bytes
        var isString = false
        var isExponent = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if isString {
                if byte == UInt8(ascii: "\\") { index += 1 } else if byte == UInt8(ascii: "\"") { isString = false }
            } else if isExponent, isDigit(byte) {
                output[index] = UInt8(ascii: "0")
            } else if byte == UInt8(ascii: "\"") {
                isString = true
            } else if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
                isExponent = index > 0 && isDigit(bytes[index - 1])
            } else if byte != UInt8(ascii: "+"), byte != UInt8(ascii: "-") {
                isExponent = false
            }
            index += 1
        }
        return output
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
