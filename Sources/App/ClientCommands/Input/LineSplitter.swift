/// Splits a byte stream into lines. LF ends a line; a CR before it belongs to the line end.
struct LineSplitter {
    enum Line: Equatable {
        case complete([UInt8])
        /// A line longer than the limit. Its bytes were dropped as they arrived.
        case tooLong
    }

    /// The maximum line length in bytes.
    let limit: Int
    private var begun: [UInt8] = []
    private var isSkipping = false

    init(limit: Int) { self.limit = limit }

    /// Returns the lines that end in these bytes.
    mutating func lines(in bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            keep(bytes[start..<end])
            lines.append(take())
            start = end + 1
        }
        keep(bytes[start...])
        return lines
    }

    /// Returns the text after the last LF, or nil when there is none.
    mutating func last() -> Line? { begun.isEmpty && !isSkipping ? nil : take() }

    private mutating func keep(_ part: ArraySlice<UInt8>) {
        // One more than the limit, for the CR that may end the line.
        if isSkipping || begun.count + part.count > limit + 1 {
            isSkipping = true
            begun = []
        } else {
            begun += part
        }
    }

    private mutating func take() -> Line {
        defer {
            begun = []
            isSkipping = false
        }
        if isSkipping { return .tooLong }
        if begun.last == 0x0D { begun.removeLast() }
        return begun.count > limit ? .tooLong : .complete(begun)
    }
}
