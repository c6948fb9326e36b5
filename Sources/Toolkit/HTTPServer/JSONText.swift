/// Just enough JSON to print a problem: this module parses none.
enum JSONText {
    /// Appends `text` as a JSON string (RFC 8259, 7).
    static func append(_ text: String, to output: inout [UInt8]) {
        output.append(0x22)
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C:
                output.append(0x5C)
                output.append(byte)
            case 0x0A:
                output.append(contentsOf: "\\n".utf8)
            case 0x0D:
                output.append(contentsOf: "\\r".utf8)
            case 0x09:
                output.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                output.append(ASCII.hexDigits[Int(byte >> 4)])
                output.append(ASCII.hexDigits[Int(byte & 15)])
            default:
                output.append(byte)
            }
        }
        output.append(0x22)
    }
}
