/// Splits a byte stream into lines. LF ends a line; a CR before it belongs to the line end.
package struct LineSplitter: Sendable {
    package enum Line: Equatable, Sendable {
        case complete([UInt8])
        /// A line longer than the limit. Its bytes are dropped as they arrive; it is reported as soon as it is too
        /// long.
        case tooLong
    }

    /// The maximum line length in bytes.
    package let limit: Int
    private var begun: [UInt8] = []
    private var isSkipping = false

    package init(limit: Int) { self.limit = limit }

    /// Returns the lines that end in these bytes.
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

    /// Returns the text after the last LF, or nil when there is none.
    package mutating func last() -> Line? { begun.isEmpty ? nil : take() }

    private mutating func keep(_ part: ArraySlice<UInt8>, _ lines: inout [Line]) {
        guard !isSkipping else { return }
        // One more than the limit, for the CR that may end the line.
        if begun.count + part.count > limit + 1 {
            isSkipping = true
            begun = []
            lines.append(.tooLong)
        } else {
            begun += part
        }
    }

    /// Ends the current line. Returns nil for one that was reported as too long.
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
