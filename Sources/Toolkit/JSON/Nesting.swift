/// Checks the nesting depth of a text before it is parsed. A check after parsing would be too late, because the parser
/// would already have built the whole tree.
enum Nesting {
    static func check(_ bytes: [UInt8], limit: Int) throws(JSONError) {
        guard let offset = bytes.withUnsafeBufferPointer({ firstTooDeep($0, limit) }) else { return }
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        throw JSONError(
            reason: .tooDeep, message: "nested deeper than \(limit) levels",
            line: before.count(where: { $0 == 0x0A }) + 1,
            // Columns count characters, so UTF-8 continuation bytes are not counted.
            column: before[lineStart...].count(where: { $0 & 0xC0 != 0x80 }) + 1, offset: offset)
    }

    private static func firstTooDeep(_ bytes: UnsafeBufferPointer<UInt8>, _ limit: Int) -> Int? {
        var depth = 0
        var at = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                at = bytes.endOfString(from: at + 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > limit { return at }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            at += 1
        }
        return nil
    }
}
