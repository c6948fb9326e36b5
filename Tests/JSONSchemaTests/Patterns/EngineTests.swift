import TestSupport
import Testing

@testable import JSONSchema

@Suite("The engines of a pattern") struct EngineTests {
    @Test("give the same answers", arguments: MatchingTests.examples, Pattern.Matcher.allCases)
    func agreement(_ example: PatternExample, engine: Pattern.Matcher) throws {
        // Not every engine supports every pattern. Another test covers the engine that is chosen by default.
        guard let pattern = try? Pattern(example.pattern, engine: engine) else { return }
        #expect(pattern.engine == engine)
        example.check(pattern)
    }

    @Test(
        "are chosen by the shape of the pattern",
        arguments: [
            ("^[a-z0-9_-]{1,64}$", Pattern.Matcher.direct), ("^(a|b|c)$", .direct), (".+", .direct), ("", .direct),
            ("^foo", .direct), ("\\.json$", .direct), ("foo", .direct), ("^\\d{4}-\\d{2}-\\d{2}$", .direct),
            ("^[A-Z][a-z]*$", .direct), ("^[^@]+@[a-z]+\\.[a-z]{2,}$", .direct), ("^\\p{L}{1,5000}$", .direct),
            ("\\d+$", .direct), ("^(?:\\+)?[0-9]+$", .direct), ("^a{2000}b", .direct),
            ("^\\S+@\\S+$", .automaton), ("^[a-z]+(-[a-z]+)*$", .automaton), ("^(a+)+$", .automaton),
            ("^https?://", .direct), ("^(https?|ftp)://", .automaton), ("\\bfoo\\b", .automaton), ("^a|b$", .automaton),
            ("^\\p{L}{1,64}(\\p{L}x)?$", .automaton), ("(a|b)*a(a|b){14}c", .simulation),
            ("^(x|y|z)[0-9]{1,5000}$", .direct), ("(?=a)b", .backtracking), ("(a)\\1", .backtracking),
            ("^(?:xx|y).{1,5000}$", .backtracking),
        ])
    func choice(_ pattern: String, engine: Pattern.Matcher) throws {
        #expect(try Pattern(pattern).engine == engine)
    }

    @Test("agree on random patterns and texts", arguments: [1, 2, 3, 4])
    func randomAgreement(_ seed: UInt64) throws {
        var draw = PatternDraw(seed: seed)
        var compared = 0
        for _ in 0..<100 {
            let source = draw.pattern()
            let patterns = Pattern.Matcher.allCases.compactMap { try? Pattern(source, engine: $0) }
            for _ in 0..<8 {
                let text = draw.text()
                let verdicts = patterns.map { $0.verdict(text, steps: 1_000_000) }
                #expect(Set(verdicts).count <= 1, "\(source) on \(text.debugDescription), seed \(seed): \(verdicts)")
                compared += verdicts.count - 1
            }
        }
        #expect(compared > 1_000)
    }

    @Test("find a word of a long list", arguments: [0, 1, 499])
    func words(_ number: Int) throws {
        let words = (0..<500).map { "word-\($0 * 7919 % 100_003)" }
        let pattern = try Pattern("^(" + words.joined(separator: "|") + "|)$")
        #expect(pattern.engine == .direct)
        #expect(pattern.verdict(words[number]) == .match)
        #expect(pattern.verdict("") == .match)
        #expect(pattern.verdict(words[number] + "x") == .noMatch)
        #expect(pattern.verdict("word-") == .noMatch)
    }

    @Test("stay inside a text that is no UTF-8", arguments: Pattern.Matcher.allCases)
    func brokenText(_ engine: Pattern.Matcher) throws {
        for source in ["^.+$", "\\p{L}+$", "é", "(?<=é)x", "\\b", "^[^a]{2}$", "[é-ü]+b|c"] {
            guard let pattern = try? Pattern(source, engine: engine) else { continue }
            for bytes in [
                [0xC3], [0xF0, 0x9F], [0x80, 0x80, 0x80], [0xFF], [0xF7, 0xBF, 0xBF, 0xBF], [0x61, 0xE4, 0xB8],
            ] {
                var steps = 1_000
                // Any verdict is correct here; the address sanitizer detects reads past the end.
                let verdict = bytes.map { UInt8($0) }.withUnsafeBufferPointer { pattern.matches($0, steps: &steps) }
                #expect(verdict != .exhausted)
            }
        }
    }
}

/// Generates random patterns without lookaround and references, and texts that may match them.
private struct PatternDraw {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func next(_ bound: Int) -> Int { random.below(bound) }

    private mutating func pick(_ choices: [String]) -> String { choices[next(choices.count)] }

    private static let letters = ["a", "b", "c", "1", "-", " ", "é", "π", "中", "🐲"]
    private static let classes = [
        ".", "\\d", "\\w", "\\S", "\\W", "[a-c]", "[^a]", "[]", "[^]", "[é-中]", "\\p{sc=Greek}", "\\P{Lu}", "[\\d\\-π]",
    ]
    private static let repeats = ["*", "+", "?", "*?", "+?", "{2}", "{0}", "{1,2}", "{0,3}?", "{2,}"]

    mutating func pattern() -> String {
        (next(3) == 0 ? "^" : "") + choice(depth: 0) + (next(3) == 0 ? "$" : "")
    }

    private mutating func choice(depth: Int) -> String {
        var text = row(depth)
        while next(4) == 0 { text += "|" + row(depth) }
        return text
    }

    private mutating func row(_ depth: Int) -> String { (0..<next(4)).map { _ in term(depth) }.joined() }

    private mutating func term(_ depth: Int) -> String {
        if next(8) == 0 { return pick(["^", "$", "\\b", "\\B"]) }
        var text: String
        switch next(depth < 4 ? 8 : 6) {
        case 0...2: text = pick(Self.letters)
        case 3...5: text = pick(Self.classes)
        case 6: text = "(" + choice(depth: depth + 1) + ")"
        default: text = "(?:" + choice(depth: depth + 1) + ")"
        }
        if next(3) == 0 { text += pick(Self.repeats) }
        return text
    }

    mutating func text() -> String { (0..<next(8)).map { _ in pick(Self.letters) }.joined() }
}
