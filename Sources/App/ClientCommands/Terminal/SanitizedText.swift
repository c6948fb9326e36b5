/// Text of strangers on somebody's terminal.
package enum SanitizedText {
    /// The text with everything a terminal would obey made visible: C0, DEL, C1, and the marks that reorder a line.
    ///
    /// JSON escapes C0 but not C1, and U+009B begins a control sequence as ESC [ does.
    package static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isObeyed(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Columns a terminal gives the text: two for the wide characters of East Asia and for emoji.
    package static func width(_ text: String) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.first.map(isWide) == true ? 2 : 1) }
    }

    /// Unicode's East Asian Width W and F, by blocks (UAX 11).
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
