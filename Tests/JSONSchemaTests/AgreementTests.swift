import JSON
import JSONSchema
import TestSupport
import Testing

/// Random schemas and values. Three evaluators must agree: the plan by each of its two readers, and the walk over the
/// rules that makes reports.
@Suite("Plan and report") struct AgreementTests {
    @Test("agree on random schemas and values", arguments: [UInt64](1...4))
    func agree(_ seed: UInt64) throws {
        var random = SchemaDice(random: SeededGenerator(seed: seed))
        for _ in 0..<150 {
            let text = random.schema(depth: 0, top: true)
            let layout = try compiled(text) { $0.access = .layout }
            let plain = try compiled(text) { $0.access = .public }
            for _ in 0..<12 {
                let value = try document(random.value(depth: 0))
                var scratch = Scratch()
                let verdict = layout.verdict(on: value.root, scratch: &scratch)
                #expect(
                    plain.verdict(on: value.root, scratch: &scratch) == verdict, "seed \(seed): \(text) \(value.text)")
                let isValid = layout.collected(on: value.root).violations.isEmpty
                #expect(isValid == (verdict == .valid), "seed \(seed): \(text) \(value.text)")
            }
        }
    }
}

/// Generates schemas whose keywords interact, over few names and small values, so that many pairs match.
private struct SchemaDice {
    var random: SeededGenerator

    mutating func below(_ bound: Int) -> Int { random.below(bound) }

    mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    private static let names = ["a", "b", "ab", "a_name_of_20_letters", "a_name_of_2O_letters", "é", ""]
    private static let scalars = [
        "null", "true", "false", "0", "1", "1.0", "2.5", "-3", "\"\"", "\"a\"", "\"é\"", "\"abcdefgh\"",
        "\"abcdefghijklmnopq\"",
    ]
    private static let patterns = ["^a", "b$", "_2[0O]_", "^.?$"]

    mutating func value(depth: Int) -> String {
        switch depth > 2 ? 0 : below(5) {
        case 3:
            var names: [String] = []
            for _ in 0..<below(5) {
                let name = pick(Self.names)
                if !names.contains(where: { Array($0.utf8) == Array(name.utf8) }) { names.append(name) }
            }
            return "{" + names.map { "\"\($0)\":\(value(depth: depth + 1))" }.joined(separator: ",") + "}"
        case 4: return "[" + (0..<below(5)).map { _ in value(depth: depth + 1) }.joined(separator: ",") + "]"
        default: return pick(Self.scalars)
        }
    }

    mutating func schema(depth: Int, top: Bool = false) -> String {
        if !top, below(12) == 0 { return pick(["true", "false"]) }
        if depth > 3 { return pick([#"{"type":"string"}"#, #"{"minimum":1}"#, "{}", #"{"minLength":2}"#]) }
        var members: [String: String] = [:]
        for _ in 0...below(4) {
            let (keyword, value) = keyword(depth)
            members[keyword] = value
        }
        if top {
            let parts = ["x", "y"].map { "\"\($0)\":\(schema(depth: 2).replacingReferences)" }
            members["$defs"] = "{" + parts.joined(separator: ",") + "}"
        }
        return "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private mutating func list(_ depth: Int) -> String {
        "[" + (0...below(3)).map { _ in schema(depth: depth + 1) }.joined(separator: ",") + "]"
    }

    private mutating func map(_ names: [String], _ depth: Int) -> String {
        let chosen = names.filter { _ in below(2) == 0 }
        return "{" + chosen.map { "\"\($0)\":\(schema(depth: depth + 1))" }.joined(separator: ",") + "}"
    }

    private mutating func keyword(_ depth: Int) -> (String, String) {
        switch below(24) {
        case 0, 1:
            return ("type", "\"" + pick(["object", "array", "string", "integer", "number", "boolean", "null"]) + "\"")
        case 2, 3: return ("properties", map(Self.names, depth))
        case 4: return ("required", "[\"" + pick(Self.names) + "\"]")
        case 5: return ("additionalProperties", below(2) == 0 ? "false" : schema(depth: depth + 1))
        case 6: return ("patternProperties", map(Self.patterns, depth))
        case 7, 8: return ("unevaluatedProperties", below(2) == 0 ? "false" : schema(depth: depth + 1))
        case 9: return ("unevaluatedItems", below(2) == 0 ? "false" : schema(depth: depth + 1))
        case 10, 11: return (pick(["allOf", "anyOf", "oneOf"]), list(depth))
        case 12: return ("not", schema(depth: depth + 1))
        case 13: return (pick(["if", "then", "else"]), schema(depth: depth + 1))
        case 14: return ("items", schema(depth: depth + 1))
        case 15: return ("prefixItems", list(depth))
        case 16: return (pick(["contains", "propertyNames"]), schema(depth: depth + 1))
        case 17: return ("enum", "[" + (0...below(4)).map { _ in value(depth: 2) }.joined(separator: ",") + "]")
        case 18: return ("const", value(depth: 2))
        case 19: return (pick(["minimum", "maximum", "exclusiveMinimum"]), pick(["0", "1", "2.5"]))
        case 20:
            return (
                pick(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]),
                "\(below(4))"
            )
        case 21: return ("dependentSchemas", map(["a", "b"], depth))
        case 22: return ("oneOf", alternatives(depth))
        default: return ("$ref", "\"#/$defs/" + pick(["x", "y"]) + "\"")
        }
    }

    /// Alternatives that one member distinguishes.
    private mutating func alternatives(_ depth: Int) -> String {
        let branches = ["a", "abcdefgh"].map { tag in
            "{\"properties\":{\"a\":{\"const\":\"\(tag)\"},\"b\":\(schema(depth: depth + 1))},\"required\":[\"a\"]}"
        }
        return "[" + branches.joined(separator: ",") + "]"
    }
}

extension String {
    /// Removes references inside referenced parts, which could otherwise refer to themselves.
    fileprivate var replacingReferences: String {
        var rest = self[...]
        var text = ""
        while let range = rest.firstRange(of: "\"$ref\"") {
            text += rest[..<range.lowerBound] + "\"$comment\""
            rest = rest[range.upperBound...]
        }
        return text + rest
    }
}
