/// Splits a byte stream into lines. A line ends with LF or CRLF.
package struct LineSplitter: Sendable {
    package enum Line: Equatable, Sendable {
        case complete([UInt8])
        /// A line longer than the limit. It is reported as soon as it is too long, and its bytes are dropped.
        case tooLong
    }

    /// The maximum line length in bytes.
    package let limit: Int
    private var begun: [UInt8] = []
    private var isSkipping = false

    package init(limit: Int) { self.limit = limit }

    /// Adds bytes and returns the lines that they complete.
    package mutating func lines(in bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            keep(bytes[start..<end], &lines)
            if let line = take() { lines.append(line) }
            start = end + 1
        }
        keep(bytes[start...], &lines)
        return lines
    }

    /// Returns the text after the last LF as a line, or nil when no text follows the last LF.
    package mutating func last() -> Line? { begun.isEmpty ? nil : take() }

    private mutating func keep(_ part: ArraySlice<UInt8>, _ lines: inout [Line]) {
        guard !isSkipping else { return }
        // Allows one byte more than the limit, for a CR at the end of the line.
        if begun.count + part.count > limit + 1 {
            isSkipping = true
            begun = []
            lines.append(.tooLong)
        } else {
            begun += part
        }
    }

    /// Ends the current line and returns it. Returns nil for a line that was already reported as too long.
    private mutating func take() -> Line? {
        defer {
            begun = []
            isSkipping = false
        }
        if isSkipping { return nil }
        if begun.last == 0x0D { begun.removeLast() }
        return begun.count > limit ? .tooLong : .complete(begun)
    }
}
