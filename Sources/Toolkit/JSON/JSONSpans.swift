/// Finds the byte ranges of the members and elements of a value inside a text that has already been parsed. The program
/// can then store a part exactly as its sender wrote it. jansson does not report these ranges.
///
/// The text is known to be valid JSON, so a simple scan is sufficient: a string ends at the first unescaped quote, and
/// an array or object ends at the matching bracket.
struct JSONSpans {
    let bytes: UnsafeBufferPointer<UInt8>

    /// Calls `visit` for each member of the object that starts at `start`, in order, until `visit` returns false. The
    /// arguments are the byte range of the member's name, without the quotes, and the byte range of its value.
    func members(from start: Int, _ visit: (Range<Int>, Range<Int>) -> Bool) {
        var at = skipSpace(start + 1)
        while bytes[at] != UInt8(ascii: "}") {
            let nameEnd = skipString(at)
            let valueStart = skipSpace(skipSpace(nameEnd) + 1)
            let valueEnd = skipValue(valueStart)
            guard visit(at + 1..<nameEnd - 1, valueStart..<valueEnd) else { return }
            at = skipSpace(valueEnd)
            if bytes[at] == UInt8(ascii: ",") { at = skipSpace(at + 1) }
        }
    }

    /// Calls `visit` with the byte range of each element of the array that starts at `start`, in order, until `visit`
    /// returns false.
    func elements(from start: Int, _ visit: (Range<Int>) -> Bool) {
        var at = skipSpace(start + 1)
        while bytes[at] != UInt8(ascii: "]") {
            let end = skipValue(at)
            guard visit(at..<end) else { return }
            at = skipSpace(end)
            if bytes[at] == UInt8(ascii: ",") { at = skipSpace(at + 1) }
        }
    }

    func skipSpace(_ start: Int) -> Int {
        var at = start
        while at < bytes.count, bytes[at].isJSONSpace { at += 1 }
        return at
    }

    func skipValue(_ start: Int) -> Int {
        switch bytes[start] {
        case UInt8(ascii: "\""): return skipString(start)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return skipContainer(start)
        default:
            var at = start + 1
            while at < bytes.count, !bytes[at].isJSONSpace, !isDelimiter(bytes[at]) { at += 1 }
            return at
        }
    }

    private func skipString(_ start: Int) -> Int { bytes.endOfString(from: start + 1) + 1 }

    private func skipContainer(_ start: Int) -> Int {
        var depth = 0
        var at = start
        repeat {
            switch bytes[at] {
            case UInt8(ascii: "\""): at = skipString(at)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                at += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                at += 1
            default: at += 1
            }
        } while depth > 0
        return at
    }

    private func isDelimiter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }
}
