/// Shortens long strings inside one member of the outer object before jansson parses a text. The program does not read
/// this member and passes it on as the original bytes.
///
/// jansson takes about 130 instructions for each byte of a string. The strings of a payload are often most of a
/// request, and nothing reads them unless the event's type has a schema. Therefore most characters that cannot make a
/// string invalid are removed from the text that jansson parses.
enum ShortenedText {
    /// The number of characters that remain at the start of each shortened run of plain characters. It is larger than
    /// the four hexadecimal digits of an escape, so that at least one character remains between two escapes. Otherwise,
    /// `\ud83d` and a later `\ude00` could become a valid pair.
    private static let kept = 6
    /// The minimum number of characters of a run that is shortened.
    private static let shortest = 24

    /// Returns the text with shortened strings in the value of one member of the outer object; nil when nothing can be
    /// removed.
    ///
    /// Removes printable ASCII characters from strings, except quotation marks, backslashes and the characters of
    /// escapes. Names are not shortened, because jansson compares them. The result is valid JSON exactly when `bytes`
    /// is, with the same depth and the same repeated names.
    ///
    /// - Parameter member: the name of the member, without characters that JSON escapes.
    static func shortened(_ bytes: [UInt8], member: String) -> [UInt8]? {
        var member = member
        return member.withUTF8 { member in
            bytes.withUnsafeBufferPointer { text in
                var scan = Scan(text: text, member: member)
                return scan.run()
            }
        }
    }

    private struct Scan {
        let text: UnsafeBufferPointer<UInt8>
        let member: UnsafeBufferPointer<UInt8>
        private var output: [UInt8] = []
        private var copied = 0

        init(text: UnsafeBufferPointer<UInt8>, member: UnsafeBufferPointer<UInt8>) {
            self.text = text
            self.member = member
        }

        mutating func run() -> [UInt8]? {
            var depth = 0
            var isInMember = false
            var at = 0
            while at < text.count {
                switch text[at] {
                case UInt8(ascii: "\""):
                    let start = at + 1
                    at = text.endOfString(from: start)
                    let length = at - start
                    guard depth == 1 || isInMember && length >= ShortenedText.shortest else { break }
                    if !isName(endingAt: at) {
                        if isInMember, length >= ShortenedText.shortest { leaveOut(start..<at) }
                    } else if depth == 1 {
                        isInMember = length == member.count && text[start..<at].elementsEqual(member)
                    }
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                at += 1
            }
            guard copied > 0 else { return nil }
            output.append(contentsOf: text[copied...])
            return output
        }

        /// True when a colon follows the string whose closing quotation mark is at `end`.
        private func isName(endingAt end: Int) -> Bool {
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

        /// Shortens each long run of plain characters in the content of a string to its first ``ShortenedText/kept``
        /// characters.
        private mutating func leaveOut(_ content: Range<Int>) {
            var start = content.lowerBound
            while start < content.upperBound {
                let end = text.endOfPlainText(from: start)
                endRun(start..<end)
                start = end + (end < content.upperBound && text[end] == UInt8(ascii: "\\") ? 2 : 1)
            }
        }

        private mutating func endRun(_ run: Range<Int>) {
            guard run.count >= ShortenedText.shortest else { return }
            if copied == 0 { output.reserveCapacity(text.count) }
            output.append(contentsOf: text[copied..<run.lowerBound + ShortenedText.kept])
            copied = run.upperBound
        }
    }
}
