import JSON

/// A gap in the proof of an ``Inclusion``. The proof has to show that every value that satisfies some rules (the narrow
/// side) also satisfies another rule (the wide side). A gap is a keyword of the wide side that could not be proved.
struct Gap {
    let pointer: String
    let text: String
    /// Values that satisfy the rules of the narrow side and may violate the keyword. They are complete values, or parts
    /// that must still be embedded in complete values.
    var samples: [JSONText]
    /// True when the option `isLenient` tolerates the gap. The gap is then reported but counts as compatible.
    var isTolerated = false

    static let sampleLimit = 12
}

extension Inclusion {
    /// Adds a gap: the narrow side (the known constraints) does not imply a keyword of the rule `wide`. Always returns
    /// false, so that the caller can return the result.
    mutating func gap(
        _ wide: RuleRef, _ suffix: String, narrower: String, wider: String, _ samples: [JSONText]
    ) -> Bool {
        let text = direction == .backward ? narrower : wider
        add(Gap(pointer: pair.pointer(wide, suffix), text: text, samples: Array(samples.prefix(Gap.sampleLimit))))
        return false
    }

    /// Records that the program cannot decide whether the narrow side (the known constraints) implies a keyword of the
    /// rule `wide`. Always returns false, so that the caller can return the result.
    mutating func fail(_ wide: RuleRef, _ suffix: String, _ text: String, samples: [JSONText]) -> Bool {
        add(Gap(pointer: pair.pointer(wide, suffix), text: text, samples: Array(samples.prefix(Gap.sampleLimit))))
        return false
    }

    mutating func add(_ gap: Gap) {
        if gaps.count < Self.gapLimit { gaps.append(gap) }
    }

    /// Runs the proof `question` about a member or element of the value, and returns the result. Replaces each sample
    /// value of a new gap with the complete value that `whole` builds around it.
    mutating func descend(
        _ question: (inout Inclusion) -> Bool, building whole: (inout Inclusion, JSONText) -> JSONText?
    ) -> Bool {
        let mark = gaps.count
        let holds = question(&self)
        guard !holds else { return true }
        for index in mark..<max(mark, gaps.count) where !gaps[index].isTolerated {
            gaps[index].samples = gaps[index].samples.prefix(6).compactMap { whole(&self, $0) }
        }
        return false
    }
}

/// Texts that describe changes.
enum ChangeText {
    /// Returns the first four values as text, each truncated to a length that fits into a sentence.
    static func list(_ texts: [JSONText]) -> String {
        let shown = texts.prefix(4).map { $0.description.quotable }.joined(separator: ", ")
        return texts.count > 4 ? shown + ", …" : shown
    }

    static func quoted(_ name: Name) -> String { "'\(name.text.quotable)'" }

    static func list(_ kinds: KindSet) -> String {
        var names: [String] = []
        if kinds.contains(.null) { names.append("null") }
        if !kinds.isDisjoint(with: .boolean) { names.append("booleans") }
        if !kinds.isDisjoint(with: .integer) { names.append("integers") }
        if kinds.contains(.fraction) { names.append("fractions") }
        if kinds.contains(.string) { names.append("strings") }
        if kinds.contains(.array) { names.append("arrays") }
        if kinds.contains(.object) { names.append("objects") }
        return names.joined(separator: ", ")
    }
}
