/// The pattern on the right side of `LIKE`: texts with wildcards between them. A wildcard stands for any number of
/// characters. Case is ignored.
///
/// The matching finds the leftmost occurrence of each text, one after the other. The matching never goes back in the
/// text, because a wildcard may stand for any length. So each byte of the text and of the pattern is read about once.
/// With backtracking, an expression such as `*a*a*a*a*b` could stall every event.
struct WildcardPattern: Sendable {
    private let first: [UInt8]
    private let middle: [SubstringSearch]
    /// The text after the last wildcard; nil for a pattern without wildcards, which is `first` alone.
    private let last: [UInt8]?

    /// Creates a pattern.
    ///
    /// - Parameter pieces: the unescaped texts between the wildcards; at least one.
    init(pieces: [String]) {
        first = CaseInsensitiveText.bytes(pieces[0])
        last = pieces.count > 1 ? CaseInsensitiveText.bytes(pieces[pieces.count - 1]) : nil
        middle = pieces.dropFirst().dropLast().filter { !$0.isEmpty }.map {
            SubstringSearch(CaseInsensitiveText.bytes($0))
        }
    }

    /// Parses a pattern from a value of an event: `*` is a wildcard, `\*` is a star, and `\\` is a backslash.
    init(text: String) {
        var pieces = [""]
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            if scalar == "*" {
                pieces.append("")
            } else if scalar == "\\" {
                let next = scalars.next()
                if next != "*", next != "\\" { pieces[pieces.count - 1].unicodeScalars.append("\\") }
                if let next { pieces[pieces.count - 1].unicodeScalars.append(next) }
            } else {
                pieces[pieces.count - 1].unicodeScalars.append(scalar)
            }
        }
        self.init(pieces: pieces)
    }

    /// Returns true when the whole text matches the pattern.
    func matches(_ text: String) -> Bool { matches(folded: CaseInsensitiveText.bytes(text)) }

    /// Returns true when a whole text matches the pattern. The text must be case-folded (``CaseInsensitiveText``).
    func matches(folded text: [UInt8]) -> Bool {
        guard let last else { return text == first }
        guard text.count >= first.count + last.count, text.starts(with: first),
            text.suffix(last.count).elementsEqual(last)
        else { return false }
        var at = first.count
        let end = text.count - last.count
        for piece in middle {
            guard let next = piece.end(in: text, at..<end) else { return false }
            at = next
        }
        return true
    }
}

/// A text to search for, prepared so that a search reads every byte once (the Knuth-Morris-Pratt algorithm).
///
/// The cost of a simple search is the product of both lengths. Clients, which are not trusted, determine both: up to 8
/// KiB of expression and 64 KiB of payload.
struct SubstringSearch: Sendable {
    private let needle: [UInt8]
    /// For each length of a matched prefix, the length of its longest proper suffix that is also a prefix.
    private let fallback: [Int]

    init(_ needle: [UInt8]) {
        self.needle = needle
        var fallback = [Int](repeating: 0, count: needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[index] != needle[length] { length = fallback[length - 1] }
            if needle[index] == needle[length] { length += 1 }
            fallback[index] = length
        }
        self.fallback = fallback
    }

    func occurs(in text: [UInt8]) -> Bool { end(in: text, 0..<text.count) != nil }

    /// Returns the offset after the leftmost occurrence of the searched text within a range of `text`; nil when there
    /// is none.
    func end(in text: [UInt8], _ range: Range<Int>) -> Int? {
        guard !needle.isEmpty else { return range.lowerBound }
        var length = 0
        for index in range {
            while length > 0, text[index] != needle[length] { length = fallback[length - 1] }
            if text[index] == needle[length] { length += 1 }
            if length == needle.count { return index + 1 }
        }
        return nil
    }
}

/// Case folding of text: Unicode lower case, with a fast path for ASCII.
enum CaseInsensitiveText {
    static func bytes(_ text: String) -> [UInt8] {
        var folded = Array(text.utf8)
        for index in folded.indices {
            let byte = folded[index]
            if byte >= 0x80 { return Array(text.lowercased().utf8) }
            if (0x41...0x5A).contains(byte) { folded[index] = byte | 0x20 }
        }
        return folded
    }

    /// Returns the case-folded text. A text without capital letters is returned unchanged.
    static func text(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x41 || (0x5B..<0x80).contains($0) }
            ? text : String(decoding: bytes(text), as: UTF8.self)
    }

    static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
}

/// A text to compare with many others without regard to case. The text is case-folded once.
struct CaseInsensitiveMember {
    private let folded: [UInt8]

    init(_ text: String) { folded = CaseInsensitiveText.bytes(text) }

    var count: Int { folded.count }

    /// Returns true when both texts are equal without regard to case. Only texts beyond ASCII are folded first, because
    /// folding may change their length.
    func isSame(as text: String) -> Bool {
        guard CaseInsensitiveText.isASCII(text) else { return CaseInsensitiveText.bytes(text) == folded }
        return text.utf8.count == folded.count
            && zip(text.utf8, folded).allSatisfy { byte, wanted in
                byte == wanted || (0x41...0x5A).contains(byte) && byte | 0x20 == wanted
            }
    }
}
