import Testing

@testable import YAML

@Suite("A YAML document") struct YAMLTests {
    private func parse(_ text: String, limits: YAMLLimits = YAMLLimits()) throws -> YAMLNode? {
        try YAMLNode.parse(text, limits: limits)
    }

    private func refusal(of text: String, limits: YAMLLimits = YAMLLimits()) -> YAMLError? {
        do throws(YAMLError) {
            _ = try YAMLNode.parse(text, limits: limits)
            return nil
        } catch { return error }
    }

    @Test(
        "gives scalars as texts, however they are written",
        arguments: [
            ("a: plain text # a comment", "plain text"), ("a: 'it''s'", "it's"),
            ("a: \"tab\\tand \\u00e9\"", "tab\tand é"),
            ("a: |\n  one\n  two\n", "one\ntwo\n"), ("a: >-\n  one\n  two\n", "one two"), ("a: 007", "007"),
            ("a: true", "true"), ("a: ~", "~"), ("a:", ""), ("\u{FEFF}a: marked", "marked"),
        ])
    func scalars(_ text: String, _ expected: String) throws {
        #expect(try parse(text)?["a"]?.string == expected)
    }

    @Test("keeps the order of mappings and sequences, in block and in flow style")
    func collections() throws {
        let root = try #require(try parse("z: [1, {b: 2}]\na:\n  - x\n  - y: 3\n"))
        #expect(root.mapping?.map(\.key.string) == ["z", "a"])
        #expect(root["z"]?.sequence?.first?.string == "1")
        #expect(root["z"]?.sequence?.last?["b"]?.string == "2")
        #expect(root["a"]?.sequence?.last?["y"]?.string == "3")
        #expect(root["none"] == nil && root["a"]?["y"] == nil && root.string == nil)
    }

    @Test("says where each node begins")
    func places() throws {
        let root = try #require(try parse("# first\nlimits:\n  page: 5\n"))
        #expect(root["limits"]?["page"]?.place == YAMLPlace(line: 3, column: 9))
        #expect(root.mapping?.first?.key.place.description == "2:1")
    }

    @Test("may be empty", arguments: ["", "\n", "# a comment\n", "---\n"])
    func empty(_ text: String) throws {
        // `---` alone begins a document whose content is an empty scalar.
        #expect(try parse(text)?.string ?? "" == "")
    }

    @Test(
        "is refused with line and column",
        arguments: [
            ("a: [1", 2, 1), ("a: 1\nb: 2\na: 3\n", 3, 1), ("a:\n\t- 1\n", 2, 1), ("a: \"open\n", 2, 1),
            ("a: &x 1\nb: *x\n", 1, 4), ("b: *x\n", 1, 4), ("a: 1\n---\nb: 2\n", 2, 1), ("a: b: c", 1, 5),
        ])
    func refusals(_ text: String, _ line: Int, _ column: Int) throws {
        let found = try #require(refusal(of: text))
        #expect(found.place == YAMLPlace(line: line, column: column), "\(found)")
        #expect(!found.reason.isEmpty && !found.reason.contains("\n"))
    }

    @Test("names the key that is there twice, in one form or in two that Unicode calls equal")
    func duplicates() throws {
        #expect(refusal(of: "listen: 1\nlisten: 2")?.reason == "duplicate key 'listen'")
        #expect(refusal(of: "\"\\u00e9\": 1\n\"e\\u0301\": 2") != nil)
    }

    @Test("is bounded in size and depth, at the bound exactly")
    func bounds() {
        let text = "a: " + String(repeating: "x", count: 97)
        #expect(refusal(of: text, limits: YAMLLimits(bytes: 100)) == nil)
        #expect(refusal(of: text, limits: YAMLLimits(bytes: 99)) != nil)
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(refusal(of: nested(64)) == nil)
        #expect(refusal(of: nested(65))?.place == YAMLPlace(line: 1, column: 65))
        #expect(refusal(of: nested(100_000)) != nil)
    }

    @Test(
        "holds no control characters, and says where one is",
        arguments: [("a: \u{0}", 1, 4), ("a: 1\nb: \u{7}", 2, 4), ("é: é\u{7}", 1, 5)])
    func controls(_ text: String, _ line: Int, _ column: Int) {
        #expect(refusal(of: text)?.place == YAMLPlace(line: line, column: column))
    }
}
