/// Schemas by grammar: keywords of all dialects with values that mostly fit them.
extension Dice {
    mutating func schema(depth: Int = 0) -> Tree {
        if depth == 0 { room = once(in: 20) ? 2_000 : 100 }
        room -= 1
        if depth > 0, once(in: 10) { return .plain(pick(["true", "false"])) }
        if depth > 4 || room < 0 { return .object([member("type", .string("string"))]) }
        var members = (0..<size(12)).map { _ in keyword(depth) }
        if depth == 0 {
            if once(in: 3) { members.append(member("$id", .string(pick(Self.identifiers)))) }
            members.append(member(pick(["$defs", "definitions"]), map(["a", "b", "c"], depth)))
        }
        return .object(members)
    }

    private static let identifiers = [
        "http://example.com/root", "http://example.com/a", "a", "b.json", "#a", "urn:x:y", "", "../c", "http://[::1]/x",
    ]

    private static let references = [
        "#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/definitions/b", "#/definitions/c", "#a", "#b", "a",
        "b.json",
        "#/properties/a", "#/$defs/a/items", "#/allOf/0", "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema", "http://localhost:1234/integer.json", "#/$defs/a~1b", "#/%zz",
        "http://example.com/root#/$defs/a", "//", "?",
    ]

    private func member(_ name: String, _ value: Tree) -> Tree.Member { Tree.Member(name: name, value: value) }

    private mutating func list(_ depth: Int) -> Tree {
        .array((0...size(6)).map { _ in schema(depth: depth + 1) })
    }

    private mutating func map(_ names: [String], _ depth: Int) -> Tree {
        .object(names.filter { _ in once(in: 2) }.map { member($0, schema(depth: depth + 1)) })
    }

    private mutating func names() -> Tree {
        .array((0..<size(70)).map { .string($0 < 5 ? pick(SampleValues.names) : "member\($0)") })
    }

    private mutating func keyword(_ depth: Int) -> Tree.Member {
        switch below(26) {
        case 0, 1:
            let kinds = ["object", "array", "string", "integer", "number", "boolean", "null"].map(Tree.string)
            return member("type", once(in: 3) ? .array([pick(kinds), pick(kinds)]) : pick(kinds))
        case 2, 3: return member("properties", map(SampleValues.names, depth))
        case 4: return member("required", names())
        case 5: return member(pick(["dependentSchemas", "dependencies"]), map(["a", "b"], depth))
        case 6: return member("dependentRequired", .object([member("a", names()), member("b", names())]))
        case 7:
            return member(
                "patternProperties",
                .object(
                    (0...size(3)).map { _ in
                        member(pattern(), schema(depth: depth + 1))
                    }))
        case 8, 9, 10: return member(pick(["allOf", "anyOf", "oneOf"]), list(depth))
        case 11: return member(pick(["prefixItems", "items"]), list(depth))
        case 12, 13: return member(pick(["if", "then", "else", "not"]), schema(depth: depth + 1))
        case 14:
            return member(pick(["items", "additionalItems", "contains", "contentSchema"]), schema(depth: depth + 1))
        case 15:
            let keywords = ["unevaluatedProperties", "unevaluatedItems", "additionalProperties", "propertyNames"]
            return member(pick(keywords), schema(depth: depth + (once(in: 2) ? 5 : 1)))
        case 16: return member("enum", .array((0...size(30)).map { _ in value(depth: 3) }))
        case 17: return member("const", value(depth: 3))
        case 18, 19: return number()
        case 20: return member("format", .string(pick(Self.formats)))
        case 21: return member("pattern", .string(pattern()))
        case 22: return member("$ref", .string(pick(Self.references)))
        case 23: return member(pick(["$dynamicRef", "$recursiveRef"]), .string(pick(["#", "#a", "#b"])))
        case 24: return other()
        default: return member("oneOf", alternatives(depth))
        }
    }

    private mutating func number() -> Tree.Member {
        let keywords = [
            "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
            "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
        ]
        return member(pick(keywords), .plain(once(in: 2) ? "\(below(5))" : pick(SampleValues.numbers + ["true"])))
    }

    private mutating func other() -> Tree.Member {
        switch below(6) {
        case 0: member("uniqueItems", .plain("true"))
        case 1: member(pick(["$anchor", "$dynamicAnchor"]), .string(pick(["a", "b"])))
        case 2: member(pick(["$id", "id"]), .string(pick(Self.identifiers)))
        case 3: member("$recursiveAnchor", .plain("true"))
        case 4: member("contentMediaType", .string("application/json"))
        default: member("contentEncoding", .string("base64"))
        }
    }

    /// Branches that one member tells apart.
    private mutating func alternatives(_ depth: Int) -> Tree {
        .array(
            (0...size(6)).map { number in
                let tag = Tree.object([
                    member(pick(["const", "type"]), .string(number < 6 ? "tag\(number)" : "string"))
                ])
                return .object([
                    member("properties", .object([member("a", tag), member("b", schema(depth: depth + 1))])),
                    member("required", .array([.string("a")])),
                ])
            })
    }

    static let formats = [
        "date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
        "uri",
        "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer",
        "regex",
        "nothing",
    ]

    // MARK: - Hostile shapes

    /// Definitions in a chain, each made of several references to the next: what doubles at every level.
    mutating func chain() -> Tree {
        let length = 1 + size(60)
        let links = (0..<length).map { number in
            member("d\(number)", link("#/$defs/d\(once(in: 40) ? below(length) : number + 1)"))
        }
        return .object([
            member("$ref", .string("#/$defs/d0")),
            member("$defs", .object(links + [member("d\(length)", schema(depth: 4))])),
        ])
    }

    private mutating func link(_ target: String) -> Tree {
        let next = Tree.object([member("$ref", .string(target))])
        let several = Tree.array([Tree](repeating: next, count: 1 + below(3)))
        var members = [Tree.Member]()
        for _ in 0...below(2) {
            switch below(10) {
            case 0: members.append(member("not", next))
            case 1: members += [member("if", next), member("then", next), member("else", next)]
            case 2: members.append(member("properties", .object([member("a", next), member("b", next)])))
            case 3: members.append(member("items", next))
            case 4: members.append(member("dependentSchemas", .object([member("a", next)])))
            case 5: members.append(member(pick(["unevaluatedProperties", "unevaluatedItems"]), .plain("false")))
            case 6: members.append(member("patternProperties", .object([member("^[a-c]", next), member("b$", next)])))
            default: members.append(member(pick(["allOf", "anyOf", "oneOf"]), several))
            }
        }
        if once(in: 5) { members.append(keyword(4)) }
        return .object(members)
    }

    /// Many of one keyword beside each other.
    mutating func heap() -> Tree {
        let count = 1 + below(400)
        switch below(7) {
        case 0: return .object([member("allOf", .array((0..<count).map { _ in schema(depth: 4) }))])
        case 1:
            let rows = (0..<count).map { member(pattern() + "\($0)", schema(depth: 5)) }
            return .object([
                member("patternProperties", .object(rows)),
                member("properties", .object((0..<count).map { member("member\($0)", .plain("true")) })),
                member("additionalProperties", .plain("false")),
            ])
        case 2:
            let values = (0..<count).map { Tree.plain("\($0)") } + [.plain("1.5"), .string("a")]
            let list = Tree.object([member("enum", .array(values))])
            return .object([member("allOf", .array([Tree](repeating: list, count: 1 + below(5))))])
        case 3:
            let branches = (0..<count).map { _ in Tree.object([keyword(3), keyword(3)]) }
            return .object([member(pick(["anyOf", "oneOf"]), .array(branches))])
        case 4: return repeatedName(count)
        case 5: return repeatedBase(count)
        default: return costlyPatterns(count)
        }
    }

    /// A long name that the place of everything below repeats.
    private mutating func repeatedName(_ count: Int) -> Tree {
        let members = (0..<10 * count).map { member("a\($0)", once(in: 9) ? keywords(4) : .object([])) }
        let inner = Tree.object([member("properties", .object(members))])
        return .object([member("properties", .object([member(String(repeating: "é", count: size(60_000)), inner)]))])
    }

    /// A long identifier that many others are relative to.
    private mutating func repeatedBase(_ count: Int) -> Tree {
        let base = "http://a/" + String(repeating: pick(["x", "x/", "../", "%41"]), count: size(30_000))
        let key = pick(["$id", "id", "$ref", "$anchor"])
        let members = (0..<10 * count).map { Tree.object([member(key, .string("y\(once(in: 9) ? 0 : $0)"))]) }
        return .object([
            member("$id", .string(base)), member("id", .string(base)), member("allOf", .array(members)),
            member("$defs", .object([member("a", .object([member("$id", .string("y0"))]))])),
        ])
    }

    private mutating func keywords(_ depth: Int) -> Tree { .object([keyword(depth), keyword(depth)]) }

    /// Patterns that are dear to build or to match, and names to match them with.
    private mutating func costlyPatterns(_ count: Int) -> Tree {
        let costly = ["(a|b)*a(a|b){14}c", "(a|b)*a(a|b){9}c", "^(?=(a+)+$)(a+)+", "^(?:\\p{L}+ )+", "(?:[ab]c){400}"]
        let rows = (0..<5 * count).map { member(pick(costly) + "\($0)", .plain("true")) }
        let name = String(repeating: pick(["a", "ab"]), count: size(100))
        return .object([
            member("patternProperties", .object(rows)),
            member("properties", .object((0..<count).map { member(name + "\($0)", .plain("true")) })),
            member("additionalProperties", .plain("false")),
        ])
    }
}
