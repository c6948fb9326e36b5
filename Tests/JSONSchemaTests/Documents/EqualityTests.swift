import JSON
import Testing

@testable import JSONSchema

private let seed = HashSeed(start: 0x1234_5678_9ABC_DEF0, multiplier: 0x9E37_79B9_7F4A_7C15)

private func tree(_ text: String) throws -> JSONDocument { try JSONDocument(Array(text.utf8)) }

@Suite("Equality") struct EqualityTests {
    @Test(
        "is by value",
        arguments: [
            ("1", "1.0"), ("0", "-0.0"), ("-0", "0.0"), ("100", "1e2"), ("-3", "-3.0"), ("1.5", "15e-1"),
            ("9007199254740992", "9007199254740992.0"), ("true", "true"), ("null", "null"), ("\"é\"", "\"\\u00e9\""),
            ("\"a\\u0000b\"", "\"a\\u0000b\""), ("[]", "[]"), ("{}", "{}"), ("[1, [2.0]]", "[1.0, [2]]"),
            ("{\"a\": 1, \"b\": {\"c\": [], \"d\": 0}}", "{\"b\": {\"d\": -0.0, \"c\": []}, \"a\": 1.0}"),
            ("-9223372036854775808", "-9223372036854775808.0"),
        ])
    func equal(left: String, right: String) throws {
        let (left, right) = (try tree(left), try tree(right))
        withExtendedLifetime((left, right)) {
            #expect(PublicAccess.areEqual(left.root.node, right.root.node))
            #expect(LayoutAccess.areEqual(right.root.node, left.root.node))
            #expect(
                PublicAccess.hash(left.root.node, seed: seed) == LayoutAccess.hash(right.root.node, seed: seed))
        }
    }

    @Test("distinguishes all of these")
    func different() throws {
        let texts = [
            "null", "true", "false", "0", "1", "1.5", "9007199254740993", "9007199254740992.0", "9223372036854775807",
            "9223372036854775808.0", "\"\"", "\"0\"", "\"1\"", "\"a\"", "\"a\\u0000\"", "\"a\\u0000b\"", "\"\\u00e9\"",
            "\"e\\u0301\"", "\"12345678\"", "\"12345678\\u0000\"", "[]", "[0]", "[1]", "[[]]", "[1, 2]", "[2, 1]",
            "[[1], 2]", "[1, [2]]", "{}", "{\"a\": 1}", "{\"a\": 2}", "{\"b\": 1}", "{\"a\": 1, \"b\": 2}",
            "{\"a\": 2, \"b\": 1}", "{\"\": null}", "[null]", "{\"a\": {\"b\": 1}}", "{\"b\": {\"a\": 1}}",
        ]
        let trees = try texts.map(tree)
        withExtendedLifetime(trees) {
            for (left, leftText) in zip(trees, texts) {
                for (right, rightText) in zip(trees, texts) {
                    let isSame = leftText == rightText
                    #expect(
                        PublicAccess.areEqual(left.root.node, right.root.node) == isSame, "\(leftText) \(rightText)")
                    #expect(
                        LayoutAccess.areEqual(left.root.node, right.root.node) == isSame, "\(leftText) \(rightText)")
                }
            }
            #expect(Set(trees.map { LayoutAccess.hash($0.root.node, seed: seed) }).count == trees.count)
        }
    }
}

@Suite("uniqueItems") struct UniqueItemsTests {
    @Test(
        "finds the first repetition, in short arrays and long ones", arguments: [0, 1, 2, 8, 9, 10, 100, 5_000])
    func repetition(count: Int) throws {
        let items = (0..<count).map { ["\($0)", "\"\($0)\"", "{\"a\": \($0), \"b\": [\($0)]}"][$0 % 3] }
        #expect(try uniqueness(of: items) == .unique)
        guard count >= 2 else { return }
        let twins = ["0.0", "\"1\"", "{\"b\": [2.0], \"a\": 2}"]
        let index = min(count, 3) - 1
        #expect(try uniqueness(of: items + [twins[index]]) == .repeated(count, of: index))
    }

    /// Pairwise comparison would need five thousand million comparisons, which takes minutes instead of milliseconds.
    @Test("is linear, also for values that differ in a few bits", .timeLimit(.minutes(2)))
    func linear() throws {
        #expect(try uniqueness(of: (0..<100_000).map { "\($0)" }) == .unique)
        #expect(try uniqueness(of: (0..<100_000).map { "\($0 << 40)" }) == .unique)
        #expect(try uniqueness(of: (0..<100_000).map { "\(Double($0) + 0.5)" }) == .unique)
        #expect(try uniqueness(of: (0..<100_000).map { "[{\"n\": \"\($0)\"}]" }) == .unique)
    }

    @Test("spreads values that a table by plain bits would collect in one place")
    func spread() throws {
        let families: [(Int) -> String] = [
            { "\($0 << 44)" }, { "\(Double($0) * 0x1p200)" }, { "\"\(String(repeating: "a", count: $0))\"" },
            { "[\(Array(repeating: "0", count: $0).joined(separator: ","))]" }, { "{\"\($0)\": 1}" },
        ]
        for family in families {
            let trees = try (1...1_000).map { try tree(family($0)) }
            let slots = withExtendedLifetime(trees) {
                Set(trees.map { LayoutAccess.hash($0.root.node, seed: seed) & 0x7FF })
            }
            // 1000 balls in 2048 bins leave about 791 of them taken; the standard deviation is below 15.
            #expect(slots.count > 700, "\(family(3))")
        }
    }

    @Test("depends on the seed in its hashes, never in its answer")
    func seeds() throws {
        let document = try tree("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1.0]")
        var hashes: Set<UInt64> = []
        for start in 0..<100 {
            let seed = HashSeed(start: UInt64(start), multiplier: .max / UInt64(start + 3))
            var scratch = Scratch(limitBytes: 1 << 20, seed: seed)
            withExtendedLifetime(document) {
                let node = document.root.node
                let found = LayoutAccess.uniqueness(ofArray: node, scratch: &scratch)
                #expect(found == .repeated(10, of: 0))
                hashes.insert(LayoutAccess.hash(node, seed: seed))
            }
        }
        #expect(hashes.count == 100)
    }

    @Test("fails when its table does not fit into the scratch memory")
    func exhausted() throws {
        let document = try tree("[\((0..<1_000).map { "\($0)" }.joined(separator: ","))]")
        var scratch = Scratch(limitBytes: 4_096)
        withExtendedLifetime(document) {
            let found = PublicAccess.uniqueness(ofArray: document.root.node, scratch: &scratch)
            #expect(found == .exhausted)
        }
    }

    private func uniqueness(of items: [String]) throws -> Uniqueness {
        let document = try tree("[\(items.joined(separator: ","))]")
        var scratch = Scratch()
        return withExtendedLifetime(document) {
            let found = LayoutAccess.uniqueness(ofArray: document.root.node, scratch: &scratch)
            let other = PublicAccess.uniqueness(ofArray: document.root.node, scratch: &scratch)
            #expect(other == found)
            return found
        }
    }
}
