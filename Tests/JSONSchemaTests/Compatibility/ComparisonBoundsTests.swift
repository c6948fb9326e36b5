import JSON
import Testing

@testable import JSONSchema

/// Two versions that are expensive to compare.
private struct Hostile: Sendable, CustomTestStringConvertible {
    let what: String
    let old: String
    let new: String

    /// True when neither version accepts any value.
    let isNothing: Bool

    var testDescription: String { what }

    init(_ what: String, isNothing: Bool = false, _ text: (String) -> String) {
        self.what = what
        self.isNothing = isNothing
        old = text(#"{"type":"integer"}"#)
        new = text(#"{"type":"number","minimum":0}"#)
    }
}

private func nested(_ count: Int, _ leaf: String) -> String {
    String(repeating: #"{"type":"object","properties":{"a":"#, count: count) + leaf
        + String(repeating: "}}", count: count)
}

/// `count` definitions, each made from the next one.
private func chain(_ count: Int, _ leaf: String, _ link: (String) -> String) -> String {
    let links = (0..<count).map { index in
        "\"d\(index)\":" + link(##"{"$ref":"#/$defs/d\##(index + 1)"}"##)
    }
    return ##"{"$ref":"#/$defs/d0","$defs":{"## + links.joined(separator: ",") + ",\"d\(count)\":\(leaf)}}"
}

private let hostile = [
    Hostile("members in members") { nested(45, $0) },
    Hostile("a long chain of references") { chain(900, $0) { $0 } },
    Hostile("branches that double at each level") { leaf in chain(20, leaf) { #"{"anyOf":[\#($0),\#($0)]}"# } },
    Hostile("exclusive branches that double at each level", isNothing: true) { leaf in
        chain(14, leaf) { #"{"oneOf":[\#($0),{"allOf":[\#($0)]}]}"# }
    },
    Hostile("members that double at each level") { leaf in
        chain(20, leaf) { #"{"properties":{"a":\#($0),"b":\#($0)}}"# }
    },
    Hostile("negations of negations") { leaf in chain(30, leaf) { #"{"not":{"not":\#($0)}}"# } },
    Hostile("conditions in conditions") { leaf in chain(12, leaf) { #"{"if":\#($0),"then":\#($0),"else":\#($0)}"# } },
    Hostile("many branches") { leaf in
        let branches = (0..<300).map { #"{"properties":{"k":{"const":\#($0)},"v":\#(leaf)},"required":["k"]}"# }
        return #"{"type":"object","oneOf":["# + branches.joined(separator: ",") + "]}"
    },
    Hostile("many patterns") { leaf in
        let rows = (0..<200).map { "\"^x\($0)[a-z]+\":\(leaf)" }
        return #"{"patternProperties":{"# + rows.joined(separator: ",") + #"},"additionalProperties":false}"#
    },
    Hostile("values without end") { leaf in
        let values = (0..<4_000).map { "\"v\($0)\"" }.joined(separator: ",")
        return #"{"enum":["# + values + "," + (leaf.contains("number") ? "1" : "2") + "]}"
    },
    Hostile("demands that no witness can meet") { leaf in
        #"{"items":\#(leaf),"minItems":2000000000,"minLength":2000000000,"minProperties":2000000000}"#
    },
    Hostile("required recursion", isNothing: true) { leaf in
        ##"{"properties":{"a":{"$ref":"#"},"b":\##(leaf)},"required":["a","b"],"type":"object"}"##
    },
]

@Suite("A comparison of hostile versions") struct ComparisonBoundsTests {
    @Test("ends, on a small stack too", .timeLimit(.minutes(2)), arguments: hostile)
    fileprivate func ends(_ hostile: Hostile) throws {
        var options = SchemaOptions()
        options.limits.compileMilliseconds = 60_000
        let old = try Schema(
            try JSONDocument(Array(hostile.old.utf8), limits: JSONLimits(depth: 200)), options: options)
        let new = try Schema(
            try JSONDocument(Array(hostile.new.utf8), limits: JSONLimits(depth: 200)), options: options)
        let comparison = SmallStack.run { SchemaComparison(old: old, new: new, mode: .full) }
        // Each version widens one keyword and narrows another, so the verdict is "yes" only if neither accepts
        // anything.
        #expect(try #require(comparison).verdict != .yes || hostile.isNothing)
    }

    @Test("lists a bounded number of changes")
    func changes() throws {
        func text(_ type: String) -> String {
            let members = (0..<1_000).map { #""m\#($0)":{"type":"\#(type)"}"# }
            return #"{"properties":{"# + members.joined(separator: ",") + "}}"
        }
        var options = SchemaOptions()
        options.limits.compileMilliseconds = 60_000
        let comparison = try SchemaComparison(
            old: JSONDocument(Array(text("string").utf8)), new: JSONDocument(Array(text("integer").utf8)), mode: .full,
            options: options)
        #expect((1...2 * Inclusion.gapLimit).contains(comparison.changes.count))
    }
}
