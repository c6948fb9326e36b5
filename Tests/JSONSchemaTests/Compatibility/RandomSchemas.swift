import TestSupport

/// Generates schemas and values that are related: few names, few numbers, few strings.
struct RandomSchemas {
    var draw: SeededGenerator

    init(seed: UInt64) { draw = SeededGenerator(seed: seed) }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &draw)] }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &draw) < percent }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &draw) }

    private static let names = ["a", "b", "c", "ab", "kind"]
    private static let patterns = ["^a", "b$", "a", "^(a|b|ab)$", "^[a-c]+$", "^a+b?$", "^a*$", "^b*", "", "c"]
    private static let strings = ["", "a", "b", "ab", "abc", "ba", "x", "kind", "é", "2024-02-29", "aaaa", "bbbbbbbb"]

    // MARK: - Values

    mutating func value(depth: Int = 3) -> String {
        switch number(0...(depth > 0 ? 11 : 7)) {
        case 0: return "null"
        case 1: return chance(50) ? "true" : "false"
        case 2, 3: return pick(["-1", "0", "1", "2", "3", "4", "6", "10"])
        case 4: return pick(["0.5", "1.0", "-1.5", "2.0", "3.5", "1e3"])
        case 5, 6, 7: return "\"\(pick(Self.strings))\""
        case 8, 9:
            var elements = (0..<number(0...3)).map { _ in value(depth: depth - 1) }
            if let last = elements.last, chance(30) { elements.append(last) }
            return "[" + elements.joined(separator: ",") + "]"
        default:
            let names = Self.names.shuffled(using: &draw).prefix(number(0...4))
            return "{" + names.map { "\"\($0)\":" + value(depth: depth - 1) }.joined(separator: ",") + "}"
        }
    }

    // MARK: - Schemas

    /// A schema as a list of members with name and text.
    struct Draft {
        var members: [(name: String, text: String)]

        var text: String { "{" + members.map { "\"\($0.name)\":\($0.text)" }.joined(separator: ",") + "}" }
    }

    mutating func schema(depth: Int = 3) -> String {
        if chance(6) { return chance(70) ? "true" : "false" }
        return draft(depth: depth).text
    }

    private mutating func schemas(_ count: Int, _ depth: Int) -> String {
        "[" + (0..<count).map { _ in schema(depth: depth - 1) }.joined(separator: ",") + "]"
    }

    private mutating func table(_ names: [String], _ depth: Int) -> String {
        let chosen = names.shuffled(using: &draw).prefix(number(1...3))
        return "{" + chosen.map { "\"\($0)\":" + schema(depth: depth - 1) }.joined(separator: ",") + "}"
    }

    mutating func draft(depth: Int) -> Draft {
        var keywords: Set<String> = []
        var draft = Draft(members: [])
        // Keywords of one type rarely meet when all keywords are candidates.
        let related = chance(40) ? pick(Self.related) : depth > 0 ? Self.flat + Self.nested : Self.flat
        for _ in 0..<number(1...4) {
            let keyword = pick(depth > 0 ? related : related.filter(Self.flat.contains))
            if keywords.insert(keyword).inserted { draft.members.append((keyword, text(of: keyword, depth))) }
        }
        return draft
    }

    private static let flat = [
        "type", "type", "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems",
        "minProperties", "maxProperties", "required", "dependentRequired", "title",
    ]
    private static let related = [
        ["type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
        ["type", "minLength", "maxLength", "pattern", "format", "const"],
        ["minItems", "maxItems", "uniqueItems", "items", "prefixItems", "contains", "unevaluatedItems"],
        [
            "minProperties", "maxProperties", "required", "dependentRequired", "properties", "patternProperties",
            "additionalProperties", "propertyNames", "dependentSchemas", "unevaluatedProperties",
        ],
    ]
    private static let nested = [
        "properties", "properties", "properties", "patternProperties", "additionalProperties", "propertyNames", "items",
        "prefixItems", "contains", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas",
        "unevaluatedProperties", "unevaluatedItems", "$ref",
    ]

    private mutating func text(of keyword: String, _ depth: Int) -> String {
        switch keyword {
        case "type":
            let types = ["object", "array", "string", "integer", "number", "boolean", "null"].shuffled(using: &draw)
            return chance(70) ? "\"\(types[0])\"" : "[\"\(types[0])\",\"\(types[1])\"]"
        case "enum": return "[" + (0..<number(1...4)).map { _ in value(depth: 1) }.joined(separator: ",") + "]"
        case "const": return value(depth: 1)
        case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
            return pick(["-1", "0", "1", "2.5", "3", "6"])
        case "multipleOf": return pick(["1", "2", "3", "0.5", "6"])
        case "minLength", "minItems", "minProperties": return "\(number(0...3))"
        case "maxLength", "maxItems", "maxProperties": return "\(number(0...4))"
        case "pattern": return "\"\(pick(Self.patterns))\""
        case "format": return pick(["\"date\"", "\"uri\"", "\"uri-reference\"", "\"unheard-of\""])
        case "uniqueItems": return chance(80) ? "true" : "false"
        case "title": return "\"\(pick(Self.strings))\""
        case "required": return "[" + names(number(1...2)) + "]"
        case "dependentRequired": return "{\"\(pick(Self.names))\":[" + names(1) + "]}"
        case "properties", "dependentSchemas": return table(Self.names, depth)
        case "patternProperties": return table(Self.patterns, depth)
        case "prefixItems", "allOf", "anyOf", "oneOf": return schemas(number(1...3), depth)
        case "additionalProperties", "unevaluatedProperties", "unevaluatedItems":
            return chance(50) ? "false" : schema(depth: depth - 1)
        // A reference to the root is valid only below a member or an element.
        case "$ref": return "\"#/$defs/d\(number(0...1))\""
        default: return schema(depth: depth - 1)
        }
    }

    private mutating func names(_ count: Int) -> String {
        Self.names.shuffled(using: &draw).prefix(count).map { "\"\($0)\"" }.joined(separator: ",")
    }

    // MARK: - Versions

    /// Generates two versions of one schema. The second changes, drops or adds some keywords, at the top or a level
    /// below.
    mutating func versions() -> (old: String, new: String) {
        let definitions = "\"d0\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/d0\"},\"b\":\(draft(depth: 0).text)}}"
        func whole(_ draft: Draft, _ other: String) -> String {
            var draft = draft
            draft.members.append(("$defs", "{\(definitions),\"d1\":\(other)}"))
            return draft.text
        }
        let old = draft(depth: 3)
        let other = self.draft(depth: 0).text
        if chance(15) { return (whole(old, other), whole(draft(depth: 3), other)) }
        return (whole(old, other), whole(changed(old, depth: 3), chance(80) ? other : self.draft(depth: 0).text))
    }

    private mutating func changed(_ draft: Draft, depth: Int) -> Draft {
        var draft = draft
        for _ in 0..<number(1...2) {
            let fresh = self.draft(depth: depth)
            switch number(0...3) {
            case 0: if draft.members.count > 1 { draft.members.remove(at: number(0...draft.members.count - 1)) }
            case 1:
                draft.members += fresh.members.prefix(1).filter { member in
                    !draft.members.contains { $0.name == member.name }
                }
            case 2:
                let index = number(0...draft.members.count - 1)
                draft.members[index].text = text(of: draft.members[index].name, depth)
            default: draft.members.shuffle(using: &draw)
            }
        }
        return draft
    }
}
