/// One pass over a text before jansson parses it. The pass checks the nesting depth, finds the members of the outer
/// object, and shortens the long strings of one member.
///
/// The depth must be checked before parsing, because the parser would build the whole tree. The positions of the members
/// are correct only if jansson accepts the text.
///
/// jansson takes about 130 instructions for each byte of a string. The strings of a payload are often most of a
/// request, and nothing reads them unless the event's type has a schema. So one member, which the program passes on as
/// the original bytes, can be shortened: most characters that cannot make a string invalid are removed from the copy
/// that jansson parses. These are the printable ASCII characters of strings, except quotation marks, backslashes and the
/// characters of escapes. Names are not shortened, because jansson compares them. The copy is valid JSON exactly when
/// the text is, with the same depth and the same repeated names.
struct TextScan {
    /// A member of an object: the range of its name without the quotation marks, and the range of its value.
    struct Member {
        var name: Range<Int>
        var value: Range<Int>
        /// True when the name contains escapes.
        var isEscaped: Bool

        init(name: Range<Int>, value: Range<Int>, in text: UnsafeBufferPointer<UInt8>) {
            self.name = name
            self.value = value
            isEscaped = text[name].contains(UInt8(ascii: "\\"))
        }

        /// The same member, in a text in which all positions differ by `distance`.
        func moved(by distance: Int) -> Member {
            var moved = self
            moved.name = name.lowerBound + distance..<name.upperBound + distance
            moved.value = value.lowerBound + distance..<value.upperBound + distance
            return moved
        }

        /// True when the name, in its text, equals `wanted`, compared byte by byte. A name without escapes is compared
        /// without creating a string.
        @inline(__always)
        func isNamed(_ wanted: String, in text: UnsafeBufferPointer<UInt8>) -> Bool {
            guard !isEscaped else { return JSONText.name(text, name).utf8.elementsEqual(wanted.utf8) }
            guard name.count == wanted.utf8.count else { return false }
            var wanted = wanted
            return wanted.withUTF8 { UnsafeBufferPointer(rebasing: text[name]).elementsEqual($0) }
        }
    }

    /// The members of the outer object, in order. Empty if the value is not an object.
    private(set) var members: [Member] = []
    /// The position of the first bracket that is nested too deeply; nil if there is none.
    private(set) var firstTooDeep: Int?
    /// The text with shortened strings; nil when nothing was removed.
    var shortened: [UInt8]? { copied > 0 ? output : nil }

    /// The number of characters that remain at the start of each shortened run of plain characters. It is larger than
    /// the four hexadecimal digits of an escape, so that at least one character remains between two escapes. Otherwise,
    /// `\ud83d` and a later `\ude00` could become a valid pair.
    private static let kept = 6
    /// The minimum number of characters of a run that is shortened.
    private static let shortest = 24

    private var output: [UInt8] = []
    /// The end of the part of the text that is in `output`, or left out of it.
    private var copied = 0

    /// Scans a text, which may be invalid.
    ///
    /// - Parameters:
    ///   - depth: the maximum depth. The scan ends at the first bracket beyond it.
    ///   - member: the name of the member that is shortened, without characters that JSON escapes; nil to shorten none.
    init(_ bytes: [UInt8], depth limit: Int, shortening member: String?) {
        var member = member ?? ""
        let hasMember = !member.isEmpty
        bytes.withUnsafeBufferPointer { text in
            member.withUTF8 { scan(text, limit, shortening: hasMember ? $0 : nil) }
        }
    }

    private mutating func scan(
        _ text: UnsafeBufferPointer<UInt8>, _ limit: Int, shortening member: UnsafeBufferPointer<UInt8>?
    ) {
        var depth = 0
        var at = 0
        // The current member of the outer object. `start` is nil before the first byte of its value.
        var name = 0..<0
        var isAfterColon = false
        var isShortened = false
        var start: Int?
        var end = 0
        while at < text.count {
            let token = at
            switch text[at] {
            case 0x20, 0x0A, 0x0D, 0x09:
                at += 1
                continue
            case UInt8(ascii: "\""):
                at = text.endOfString(from: at + 1)
                if depth == 1, !isAfterColon {
                    name = token + 1..<at
                } else if isShortened, at - token > Self.shortest, !Self.isName(text, endingAt: at) {
                    leaveOut(token + 1..<at, of: text)
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth <= limit else {
                    firstTooDeep = at
                    return
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 1 {
                    if let start { members.append(Member(name: name, value: start..<end, in: text)) }
                    (isAfterColon, isShortened, start) = (false, false, nil)
                }
                depth -= 1
            case UInt8(ascii: ":") where depth == 1 && !isAfterColon:
                isAfterColon = true
                isShortened = member.map { $0.count == name.count && text[name].elementsEqual($0) } ?? false
                at += 1
                continue
            case UInt8(ascii: ",") where depth == 1:
                if let start { members.append(Member(name: name, value: start..<end, in: text)) }
                (isAfterColon, isShortened, start) = (false, false, nil)
                at += 1
                continue
            default: break
            }
            if isAfterColon, start == nil {
                if members.isEmpty { members.reserveCapacity(8) }
                start = token
            }
            at += 1
            end = at
        }
        if copied > 0 { output.append(contentsOf: text[copied...]) }
    }

    /// True when a colon follows the string whose closing quotation mark is at `end`.
    private static func isName(_ text: UnsafeBufferPointer<UInt8>, endingAt end: Int) -> Bool {
        var at = end + 1
        while at < text.count {
            switch text[at] {
            case 0x20, 0x0A, 0x0D, 0x09: at += 1
            case UInt8(ascii: ":"): return true
            default: return false
            }
        }
        return false
    }

    /// Shortens each long run of plain characters in the content of a string to its first ``kept`` characters.
    private mutating func leaveOut(_ content: Range<Int>, of text: UnsafeBufferPointer<UInt8>) {
        var start = content.lowerBound
        while start < content.upperBound {
            let end = text.endOfPlainText(from: start)
            if end - start >= Self.shortest {
                if copied == 0 { output.reserveCapacity(text.count) }
                output.append(contentsOf: text[copied..<start + Self.kept])
                copied = end
            }
            start = end + (end < content.upperBound && text[end] == UInt8(ascii: "\\") ? 2 : 1)
        }
    }
}
