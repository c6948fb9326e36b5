/// Patterns by grammar, and texts that come near them.
extension Dice {
    mutating func pattern(depth: Int = 0) -> String {
        var pattern = depth == 0 && once(in: 3) ? "^" : ""
        for _ in 0..<(1 + size(depth == 0 ? 6 : 3)) { pattern += term(depth) }
        if depth == 0, once(in: 3) { pattern += "$" }
        return pattern
    }

    private mutating func term(_ depth: Int) -> String {
        switch below(depth > 3 ? 7 : 12) {
        case 0, 1, 2: return pick(Self.letters) + quantifier()
        case 3: return pick(Self.classes) + quantifier()
        case 4: return characterClass() + quantifier()
        case 5: return pick(["\\b", "\\B", "^", "$"])
        case 6: return once(in: 4) ? pick(["\\1", "\\2", "\\k<n>", "\\-"]) : pick(Self.escapes) + quantifier()
        case 7: return "(" + pattern(depth: depth + 1) + ")" + quantifier()
        case 8: return "(?:" + pattern(depth: depth + 1) + "|" + pattern(depth: depth + 1) + ")" + quantifier()
        case 9: return pick(["(?=", "(?!", "(?<=", "(?<!"]) + pattern(depth: depth + 1) + ")"
        case 10 where once(in: 4): return "(?<n>" + pattern(depth: depth + 1) + ")" + quantifier()
        default: return pattern(depth: depth + 1) + "|" + pattern(depth: depth + 1)
        }
    }

    private static let letters = ["a", "b", "c", "1", "é", "_", "-", " ", "\u{1F600}", "ab", "abcabcabcabc"]

    private static let escapes = ["\\cA", "\\x41", "\\u0061", "\\u{1F600}", "\\ud83d\\ude00", "\\0", "\\/", "\\n"]

    private static let classes = [
        ".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\p{L}", "\\P{Lu}", "\\p{Script=Greek}", "\\p{Alphabetic}",
    ]

    private mutating func quantifier() -> String {
        guard once(in: 3) else { return "" }
        let counted = ["{0}", "{1}", "{2,}", "{0,3}", "{14}", "{40}"]
        if once(in: 20) { return pick(["{3,2}", "{999}", "{99999999999}", "{", "{1,"]) }
        return pick(["*", "+", "?", "*?", "+?", "??"] + counted)
    }

    private mutating func characterClass() -> String {
        var text = "[" + pick(["", "", "^"])
        for _ in 0..<size(4) {
            text += pick(["a-c", "b", "\\d", "\\w", "\\S", "\\p{L}", "é", "\\u{1F600}-\\u{1F64F}", "\\-", "\\]"])
            if once(in: 20) { text += pick(["z-a", "[", "-", "\\d-a"]) }
        }
        return text + "]"
    }

    /// A text of the characters that the pattern speaks of.
    mutating func text(near pattern: String) -> [UInt8] {
        let characters = Array(pattern.unicodeScalars) + ["a", "b", "c", "1", " ", "\n", "é", "\u{1F600}"]
        var text = String.UnicodeScalarView()
        for _ in 0..<size(120) { text.append(pick(characters)) }
        return Array(String(text).utf8)
    }
}
