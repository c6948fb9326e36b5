/// The right side of `LIKE`: pieces of text with any run of characters between them, matched without regard to case.
///
/// Matching takes the leftmost occurrence of each piece in turn, which is sufficient because a run may have any length.
/// With a linear search for each piece, the cost is that of reading text and pattern once. Backtracking would let an
/// expression such as `*a*a*a*a*b` stall every event.
struct WildcardPattern: Sendable {
    private let first: [UInt8]
    private let middle: [SubstringSearch]
    /// The piece after the last wildcard; nil without any wildcard, when `first` is the whole pattern.
    private let last: [UInt8]?

    /// - Parameter pieces: the texts between the wildcards, escapes already undone; at least one.
    init(pieces: [String]) {
        first = CaseInsensitiveText.bytes(pieces[0])
        last = pieces.count > 1 ? CaseInsensitiveText.bytes(pieces[pieces.count - 1]) : nil
        middle = pieces.dropFirst().dropLast().filter { !$0.isEmpty }.map {
            SubstringSearch(CaseInsensitiveText.bytes($0))
        }
    }

    /// Reads a pattern from a value of the event: `*` is a run of characters, `\*` a star, `\\` a backslash.
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

    /// True when the whole text matches the pattern.
    func matches(_ text: String) -> Bool { matches(folded: CaseInsensitiveText.bytes(text)) }

    /// True when a whole case-folded text (``CaseInsensitiveText``) matches the pattern.
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

/// A text to search for, prepared so that a search reads every byte once (Knuth, Morris, Pratt).
///
/// The cost of a naive search is the product of both lengths, and both come from untrusted clients: 8 KiB of expression
/// times 64 KiB of payload.
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

    /// The end of the leftmost occurrence within the range.
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

    /// The folded text, as `bytes`. A text without capitals is returned as it is.
    static func text(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x41 || (0x5B..<0x80).contains($0) }
            ? text : String(decoding: bytes(text), as: UTF8.self)
    }

    static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
}

/// A text to find among others without regard to case, prepared once for all comparisons.
struct CaseInsensitiveMember {
    private let folded: [UInt8]

    init(_ text: String) { folded = CaseInsensitiveText.bytes(text) }

    var count: Int { folded.count }

    /// True when a text is the same. Only a text with letters beyond ASCII is converted, because its length may change.
    func isSame(as text: String) -> Bool {
        guard CaseInsensitiveText.isASCII(text) else { return CaseInsensitiveText.bytes(text) == folded }
        return text.utf8.count == folded.count
            && zip(text.utf8, folded).allSatisfy { byte, wanted in
                byte == wanted || (0x41...0x5A).contains(byte) && byte | 0x20 == wanted
            }
    }
}
