/// Converts the Markdown of the guides to HTML. The supported blocks are headings, paragraphs, fenced code, lists and
/// tables. Inside lines, code, emphasis and links are supported. Any other markup is printed as text. All text is
/// escaped.
struct MarkdownPage {
    /// The ids of the headings, as GitHub derives them from the text of the headings.
    private(set) var anchors: [String] = []
    private(set) var html: [UInt8] = []
    private let resolve: (String) -> String?
    private var lines: ArraySlice<ArraySlice<UInt8>> = []

    /// Converts a text.
    ///
    /// - Parameter resolve: returns the URL for the target of a link; nil for a link of which only the text is printed.
    init(_ text: some Collection<UInt8>, resolve: @escaping (String) -> String?) {
        self.resolve = resolve
        lines = Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        while let line = lines.first { writeBlock(beginningWith: line) }
    }

    // MARK: - Blocks

    private mutating func writeBlock(beginningWith line: ArraySlice<UInt8>) {
        if line.isBlank {
            lines.removeFirst()
        } else if line.isFence {
            writeCode()
        } else if let level = line.headingLevel {
            lines.removeFirst()
            writeHeading(line.dropFirst(level + 1), level)
        } else if line.isRow, lines.dropFirst().first?.isRule == true {
            writeTable()
        } else if let marker = line.listMarker {
            writeList(isOrdered: marker > 2)
        } else {
            append("<p>")
            write(readParagraph())
            append("</p>\n")
        }
    }

    /// Prints fenced code. Inside a list item, all lines of the code are indented.
    private mutating func writeCode() {
        let indent = lines.removeFirst().indent
        append("<pre class=\"json\" tabindex=\"0\">")
        while let line = lines.popFirst(), !line.isFence {
            for byte in line.dropFirst(min(indent, line.indent)) { escape(byte) }
            html.append(UInt8(ascii: "\n"))
        }
        append("</pre>\n")
    }

    private mutating func writeHeading(_ text: ArraySlice<UInt8>, _ level: Int) {
        let plain = String(decoding: text.filter { $0 != UInt8(ascii: "`") }, as: UTF8.self)
        let id = String(
            plain.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.map { $0 == " " ? "-" : $0 })
        let earlier = anchors.count {
            $0 == id || $0.hasPrefix(id + "-") && $0.dropFirst(id.count + 1).allSatisfy(\.isNumber)
        }
        anchors.append(earlier == 0 ? id : "\(id)-\(earlier)")
        append("<h\(level) id=\"\(anchors[anchors.count - 1])\">")
        write(text)
        append("</h\(level)>\n")
    }

    private mutating func writeTable() {
        let heads = lines.removeFirst().cells
        let isNumber = lines.removeFirst().cells.map { $0.last == UInt8(ascii: ":") }
        func cell(_ name: String, _ index: Int) -> String {
            index < isNumber.count && isNumber[index] ? "<\(name) class=\"number\">" : "<\(name)>"
        }
        append("<div class=\"scroll\"><table>\n<thead><tr>")
        for (index, head) in heads.enumerated() {
            append(cell("th", index))
            write(head)
            append("</th>")
        }
        append("</tr></thead>\n<tbody>\n")
        while let row = lines.first, row.isRow {
            lines.removeFirst()
            append("<tr>")
            for (index, text) in row.cells.enumerated() {
                append(cell("td", index))
                write(text)
                append("</td>")
            }
            append("</tr>\n")
        }
        append("</tbody></table></div>\n")
    }

    private mutating func writeList(isOrdered: Bool) {
        append(isOrdered ? "<ol>\n" : "<ul>\n")
        while let line = lines.first, let marker = line.listMarker, (marker > 2) == isOrdered {
            append("<li>")
            lines[lines.startIndex] = line.dropFirst(marker)
            write(readParagraph())
            while let more = lineAfterBlanks, more.indent > 0 {
                lines = lines.drop(while: \.isBlank)
                writeBlock(beginningWith: more)
            }
            append("</li>\n")
            // A blank line between two items does not end the list.
            if lineAfterBlanks?.listMarker != nil { lines = lines.drop(while: \.isBlank) }
        }
        append(isOrdered ? "</ol>\n" : "</ul>\n")
    }

    private var lineAfterBlanks: ArraySlice<UInt8>? { lines.first { !$0.isBlank } }

    /// Removes the lines up to the next block and returns them as one text.
    private mutating func readParagraph() -> ArraySlice<UInt8> {
        var text: [UInt8] = []
        repeat {
            if !text.isEmpty { text.append(UInt8(ascii: "\n")) }
            text += lines.removeFirst().drop { $0 == UInt8(ascii: " ") }
        } while lines.first.map { !$0.isBlank && !$0.isFence && $0.headingLevel == nil && $0.listMarker == nil }
            ?? false
        return text[...]
    }

    // MARK: - Text

    private mutating func write(_ text: ArraySlice<UInt8>) {
        var rest = text
        while let byte = rest.first {
            let before = rest.startIndex > text.startIndex ? text[rest.startIndex - 1] : nil
            if let end = writeCodeSpan(rest) ?? writeLink(rest) ?? writeEmphasis(rest, after: before) {
                rest = rest[end...]
            } else if byte == UInt8(ascii: "\\"), let next = rest.dropFirst().first, next.isPunctuation {
                escape(next)
                rest = rest.dropFirst(2)
            } else {
                escape(byte)
                rest = rest.dropFirst()
            }
        }
    }

    /// Prints the code span at the start of a text, and returns its end; nil when the text does not start with one.
    private mutating func writeCodeSpan(_ text: ArraySlice<UInt8>) -> Int? {
        guard let span = text.codeSpan else { return nil }
        append("<code>")
        for byte in span.content { escape(byte == UInt8(ascii: "\n") ? UInt8(ascii: " ") : byte) }
        append("</code>")
        return span.end
    }

    private mutating func writeLink(_ text: ArraySlice<UInt8>) -> Int? {
        if text.starts(with: "<http".utf8), let end = text.firstIndex(of: UInt8(ascii: ">")) {
            let address = text[(text.startIndex + 1)..<end]
            append("<a href=\"")
            for byte in address { escape(byte) }
            append("\">")
            for byte in address { escape(byte) }
            append("</a>")
            return end + 1
        }
        guard text.first == UInt8(ascii: "["), let close = text.find("]", from: text.startIndex + 1),
            close + 1 < text.endIndex, text[close + 1] == UInt8(ascii: "("),
            let end = text[close...].firstIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let address = resolve(String(decoding: text[(close + 2)..<end], as: UTF8.self))
        if let address {
            append("<a href=\"")
            for byte in address.utf8 { escape(byte) }
            append("\">")
        }
        write(text[(text.startIndex + 1)..<close])
        if address != nil { append("</a>") }
        return end + 1
    }

    private mutating func writeEmphasis(_ text: ArraySlice<UInt8>, after before: UInt8?) -> Int? {
        guard text.first == UInt8(ascii: "*"), before?.isWord != true else { return nil }
        let marker = text.starts(with: "**".utf8) ? "**" : "*"
        let start = text.startIndex + marker.utf8.count
        guard start < text.endIndex, !text[start].isSpace, let close = text.find(marker, from: start + 1),
            !text[close - 1].isSpace
        else { return nil }
        let name = marker == "*" ? "em" : "strong"
        append("<\(name)>")
        write(text[start..<close])
        append("</\(name)>")
        return close + marker.utf8.count
    }

    private mutating func append(_ markup: String) { html += markup.utf8 }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "&"): append("&amp;")
        case UInt8(ascii: "<"): append("&lt;")
        case UInt8(ascii: ">"): append("&gt;")
        case UInt8(ascii: "\""): append("&quot;")
        default: html.append(byte)
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isBlank: Bool { allSatisfy(\.isSpace) }
    fileprivate var isFence: Bool { dropFirst(indent).starts(with: "```".utf8) }

    /// The number of spaces at the beginning of the line.
    fileprivate var indent: Int { prefix { $0 == UInt8(ascii: " ") }.count }
    fileprivate var isRow: Bool { first == UInt8(ascii: "|") }

    /// True for the line between the header and the rows of a table.
    fileprivate var isRule: Bool { isRow && allSatisfy { "|-: ".utf8.contains($0) } }

    /// The level of a heading, 1...6; nil for a line that is not a heading.
    fileprivate var headingLevel: Int? {
        let level = prefix { $0 == UInt8(ascii: "#") }.count
        return (1...6).contains(level) && dropFirst(level).first == UInt8(ascii: " ") ? level : nil
    }

    /// The length of the marker at the start of a list item: 2 for `- `, more for `1. `. Nil for a line that is not an
    /// item.
    fileprivate var listMarker: Int? {
        if starts(with: "- ".utf8) { return 2 }
        let digits = prefix { (0x30...0x39).contains($0) }.count
        return (1...3).contains(digits) && dropFirst(digits).starts(with: ". ".utf8) ? digits + 2 : nil
    }

    /// The cells of a table row. `\|` stands for a bar inside a cell.
    fileprivate var cells: [ArraySlice<UInt8>] {
        var cells: [[UInt8]] = []
        var cell: [UInt8] = []
        for byte in dropFirst() {
            guard byte == UInt8(ascii: "|") else {
                cell.append(byte)
                continue
            }
            if cell.last == UInt8(ascii: "\\") {
                cell[cell.count - 1] = byte
            } else {
                cells.append(cell)
                cell = []
            }
        }
        return cells.map { $0.trimmed }
    }

    /// The code span at the start of the text, and its end; nil when the text does not start with one.
    fileprivate var codeSpan: (content: ArraySlice<UInt8>, end: Int)? {
        let fence = prefix { $0 == UInt8(ascii: "`") }.count
        guard fence > 0 else { return nil }
        var index = startIndex + fence
        while let next = self[index...].firstIndex(of: UInt8(ascii: "`")) {
            let run = self[next...].prefix { $0 == UInt8(ascii: "`") }.count
            guard run != fence else {
                let content = self[(startIndex + fence)..<next]
                let isPadded = fence > 1 && content.count > 2 && content.first!.isSpace && content.last!.isSpace
                return (isPadded ? content.dropFirst().dropLast() : content, next + run)
            }
            index = next + run
        }
        return nil
    }

    /// The first position of a mark outside code spans; nil when there is none.
    fileprivate func find(_ mark: String, from start: Int) -> Int? {
        var index = start
        while index < endIndex {
            if let span = self[index...].codeSpan {
                index = span.end
            } else if self[index] == UInt8(ascii: "\\") {
                index += 2
            } else if self[index...].starts(with: mark.utf8) {
                return index
            } else {
                index += 1
            }
        }
        return nil
    }
}

extension [UInt8] {
    /// The text without leading and trailing white space.
    fileprivate var trimmed: ArraySlice<UInt8> {
        var text = self[...]
        while text.first?.isSpace == true { text.removeFirst() }
        while text.last?.isSpace == true { text.removeLast() }
        return text
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r")
    }
    fileprivate var isWord: Bool { (0x30...0x39).contains(self) || (0x41...0x5A).contains(self & 0xDF) }
    fileprivate var isPunctuation: Bool { (0x21...0x7E).contains(self) && !isWord }
}
