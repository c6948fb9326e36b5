/// The text of a draft, with its mentions and links. Offsets and lengths are counted in UTF-16 code units.
struct DraftText: Sendable {
    /// A word that begins with `@` or `#` and does not overlap a mention or link.
    struct Word: Sendable {
        let offset: Int
        let text: String
    }

    private struct Link: Sendable {
        var range: Range<Int>
        let target: MentionTarget
    }

    private var units: [UInt16] = []
    /// The mentions and links, ordered by position. They do not overlap.
    private var links: [Link] = []

    var text: String { String(decoding: units, as: UTF16.self) }

    mutating func insert(_ text: String, at offset: Int) {
        let offset = clamped(offset)
        let new = Array(text.utf16)
        units.insert(contentsOf: new, at: offset)
        links.removeAll { $0.range.lowerBound < offset && offset < $0.range.upperBound }
        shift(from: offset, by: new.count)
    }

    mutating func remove(_ length: Int, at offset: Int) {
        let range = clamped(length, at: offset)
        guard !range.isEmpty else { return }
        units.removeSubrange(range)
        links.removeAll { $0.range.overlaps(range) }
        shift(from: range.upperBound, by: -range.count)
    }

    /// Replaces only the part of the text that differs from the new text.
    mutating func replace(with text: String) {
        let new = Array(text.utf16)
        let prefix = zip(units, new).prefix { $0 == $1 }.count
        let most = min(units.count, new.count) - prefix
        let suffix = zip(units.reversed(), new.reversed()).prefix(most).prefix { $0 == $1 }.count
        remove(units.count - prefix - suffix, at: prefix)
        let added = new[prefix..<new.count - suffix]
        if !added.isEmpty { insert(String(decoding: added, as: UTF16.self), at: prefix) }
    }

    mutating func add(_ target: MentionTarget, _ length: Int, at offset: Int) {
        let range = clamped(length, at: offset)
        guard !range.isEmpty else { return }
        links.removeAll { $0.range.overlaps(range) }
        links.append(Link(range: range, target: target))
        links.sort { $0.range.lowerBound < $1.range.lowerBound }
    }

    mutating func removeLink(at offset: Int) { links.removeAll { $0.range.lowerBound == offset } }

    /// Returns true when the given text occurs at an offset.
    func holds(_ words: String, at offset: Int) -> Bool {
        units[clamped(words.utf16.count, at: offset)].elementsEqual(words.utf16)
    }

    /// The parts of the text, in their order.
    var elements: [MessageElement] {
        var elements: [MessageElement] = []
        var position = 0
        func part(_ range: Range<Int>) -> String { String(decoding: units[range], as: UTF16.self) }
        for link in links {
            if position < link.range.lowerBound {
                elements.append(.plainText(text: part(position..<link.range.lowerBound)))
            }
            elements.append(.link(text: part(link.range), target: link.target))
            position = link.range.upperBound
        }
        if position < units.count { elements.append(.plainText(text: part(position..<units.count))) }
        return elements
    }

    /// The words that begin with `@` or `#`, continue with at least three letters, digits or hyphens, and do not
    /// overlap a mention or link.
    var words: [Word] {
        var words: [Word] = []
        var offset = 0
        for word in text.split(omittingEmptySubsequences: false, whereSeparator: \.isWhitespace) {
            defer { offset += word.utf16.count + 1 }
            guard let sign = word.first, sign == "@" || sign == "#" else { continue }
            let name = word.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "-" }
            let range = offset..<offset + 1 + name.utf16.count
            guard name.count >= 3, !links.contains(where: { $0.range.overlaps(range) }) else { continue }
            words.append(Word(offset: offset, text: String(sign) + name))
        }
        return words
    }

    private mutating func shift(from offset: Int, by distance: Int) {
        for index in links.indices where links[index].range.lowerBound >= offset {
            let range = links[index].range
            links[index].range = range.lowerBound + distance..<range.upperBound + distance
        }
    }

    private func clamped(_ offset: Int) -> Int { min(max(offset, 0), units.count) }

    private func clamped(_ length: Int, at offset: Int) -> Range<Int> {
        let start = clamped(offset)
        return start..<start + min(max(length, 0), units.count - start)
    }
}
