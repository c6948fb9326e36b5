import Testing

@testable import JSONSchema

/// A pattern with texts that it must match and texts that it must not match.
struct PatternExample: Sendable, CustomTestStringConvertible {
    let pattern: String
    let matches: [String]
    let refuses: [String]

    init(_ pattern: String, _ matches: [String], not refuses: [String] = []) {
        (self.pattern, self.matches, self.refuses) = (pattern, matches, refuses)
    }

    var testDescription: String { pattern }

    func check(_ pattern: Pattern) {
        for text in matches { #expect(pattern.verdict(text) == .match, "\(self.pattern) on \(text.debugDescription)") }
        for text in refuses {
            #expect(pattern.verdict(text) == .noMatch, "\(self.pattern) on \(text.debugDescription)")
        }
    }
}

@Suite("A pattern") struct MatchingTests {
    static let examples = [
        // Differences between ECMA-262 and common engines.
        PatternExample("^abc$", ["abc"], not: ["abc\n", "xabc", "ab", "ABC"]),
        PatternExample(
            "^\\s$", [" ", "\t", "\u{B}", "\u{A0}", "\u{FEFF}", "\u{2028}", "\u{2003}"], not: ["\u{1}", "\u{2013}"]),
        PatternExample("^\\S$", ["\u{1}", "\u{2013}", "a"], not: [" ", "\u{A0}", "\u{FEFF}", "\u{2029}"]),
        PatternExample("^.$", ["a", "é", "🐲", "\u{85}", "\0"], not: ["\n", "\r", "\u{2028}", "\u{2029}", "", "ab"]),
        PatternExample("^\\p{Letter}+$", ["Hello", "π", "中文"], not: ["123", ""]),
        PatternExample("^\\p{digit}+$", ["42", "߀", "४"], not: ["x", "-"]),
        PatternExample("^\\p{Script=Greek}$", ["π", "Ω"], not: ["p", "п"]),
        PatternExample("^\\ud83d\\ude00$", ["😀"], not: ["😁", ""]),
        PatternExample("^\\u{1F600}$", ["😀"], not: ["😁"]),
        PatternExample("\\ud83d", [], not: ["😀", ""]),
        PatternExample("(?<=a+)b", ["aab", "xab"], not: ["b", "ba"]),
        PatternExample("[^]", ["a", "\n", "🐲"], not: [""]),
        PatternExample("[]", [], not: ["", "a"]),
        PatternExample("^\\1(a)$", ["a"], not: ["aa"]),
        // ASCII classes.
        PatternExample("^\\d$", ["0", "9"], not: ["߀", "a"]),
        PatternExample("^\\D$", ["߀", "a"], not: ["0"]),
        PatternExample("^\\w$", ["a", "Z", "0", "_"], not: ["é", "-"]),
        PatternExample("^\\W$", ["é", "-"], not: ["a"]),
        PatternExample("\\bfoo\\b", ["foo", "a foo.", "éfooé"], not: ["afoo", "foo1"]),
        PatternExample("\\Boo\\B", ["fooo"], not: ["oo", "foo"]),
        // Escapes.
        PatternExample("^\\t\\n\\v\\f\\r\\0$", ["\t\n\u{B}\u{C}\r\0"], not: ["tnvfr0"]),
        PatternExample("^\\cC$", ["\u{3}"], not: ["\\cC"]),
        PatternExample("^\\cc$", ["\u{3}"], not: ["\\cc"]),
        PatternExample("^[\\b]$", ["\u{8}"], not: ["b"]),
        PatternExample("^[\\d\\-x]+$", ["1-x"], not: ["a"]),
        PatternExample("^[^\\s\\S]$", [], not: ["a", " ", ""]),
        // Anchors and alternatives.
        PatternExample("a+", ["xxaayy"], not: ["bbb"]),
        PatternExample("", ["", "a"]),
        PatternExample("^", ["", "a"]),
        PatternExample("$", ["", "a"]),
        PatternExample("^$", [""], not: ["a", "\n"]),
        PatternExample("^a|b$", ["ax", "xb"], not: ["xa", "bx"]),
        PatternExample("^(foo|bar)$", ["foo", "bar"], not: ["foobar", "fo", ""]),
        PatternExample("a^b", [], not: ["ab", "a\nb"]),
        PatternExample("^🐲*$", ["", "🐲", "🐲🐲"], not: ["🐉", "D"]),
        // Repeats.
        PatternExample("^a{2,3}$", ["aa", "aaa"], not: ["a", "aaaa"]),
        PatternExample("^(ab){2}$", ["abab"], not: ["ab", "ababab"]),
        PatternExample("^a{0}$", [""], not: ["a"]),
        PatternExample("^(a*)*$", ["", "aaa"], not: ["b"]),
        PatternExample("^(a+)+$", ["a", "aaaaaaaa"], not: ["aaab"]),
        PatternExample("^(?:a?){3}b$", ["b", "aaab"], not: ["aaaab"]),
        PatternExample("^é{2}$", ["éé"], not: ["é", "e\u{301}e\u{301}"]),
        // Lookaround and references.
        PatternExample("^(?=.*\\d)(?=.*[a-z]).{4,}$", ["abc1", "1bcd"], not: ["abcd", "ab1", "1234"]),
        PatternExample("^(?!foo)\\w+$", ["bar", "fo"], not: ["foo", "foobar"]),
        PatternExample("(?<!a)b", ["b", "cb"], not: ["ab"]),
        PatternExample("^(a|b)\\1$", ["aa", "bb"], not: ["ab"]),
        PatternExample("^(?<q>['\"]).*\\k<q>$", ["'x'", "\"x\""], not: ["'x\""]),
        PatternExample("^(?:(a)|b)*\\1$", ["ab", "aa"], not: ["c"]),
        PatternExample("^(?:(a)|(b))*\\1c$", ["abc", "aac"], not: ["ac!"]),
        PatternExample("(?<=(\\w)\\1)c", ["ac", "aac"], not: ["c"]),
        PatternExample("(?<=\\1(\\w))c$", ["aac"], not: ["abc", "c"]),
        PatternExample("^(?=(a+))a*b\\1$", ["aba", "aabaa"], not: ["ab", "aaba"]),
    ]

    @Test("matches as ECMA-262 says", arguments: examples)
    func matching(_ example: PatternExample) throws {
        example.check(try Pattern(example.pattern))
    }
}
