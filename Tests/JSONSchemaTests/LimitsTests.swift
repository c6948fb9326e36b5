import Glibc
import JSON
import JSONSchema
import Testing

@Suite("The limits on a schema") struct SchemaLimitsTests {
    private func isRefused(
        _ text: String, as reason: SchemaError.Problem.Reason = .limit,
        _ change: @escaping (inout SchemaLimits) -> Void
    ) throws -> Bool {
        #expect(try refusal(of: text) == nil, "the schema is fine without the limit")
        return try refusal(of: text) { change(&$0.limits) }?.problems.first?.reason == reason
    }

    @Test("are its bytes, values and depth")
    func size() throws {
        let schema = #"{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}"#
        #expect(try isRefused(schema) { $0.schemaBytes = 58 })
        #expect(try isRefused(schema) { $0.schemaNodes = 5 })
        #expect(try isRefused(schema) { $0.schemaDepth = 4 })
        #expect(
            try refusal(of: schema) {
                ($0.limits.schemaBytes, $0.limits.schemaNodes, $0.limits.schemaDepth) = (59, 6, 5)
            } == nil)
    }

    @Test("count the documents that references name too")
    func library() throws {
        var library = SchemaLibrary()
        try library.add(try document(#"{"type":["string","null"]}"#), at: "https://example.com/a")
        let schema = #"{"$ref":"https://example.com/a"}"#
        let fits = try refusal(of: schema) { ($0.library, $0.limits.schemaNodes) = (library, 6) }
        let exceeds = try refusal(of: schema) { ($0.library, $0.limits.schemaNodes) = (library, 5) }
        #expect(fits == nil)
        #expect(exceeds?.problems.first?.reason == .limit)
    }

    @Test("are the listed values of all enums together")
    func values() throws {
        let schema = #"{"properties":{"a":{"enum":[1,2,3]},"b":{"enum":[4,5]}}}"#
        #expect(try isRefused(schema) { $0.enumValues = 4 })
        #expect(try refusal(of: schema) { $0.limits.enumValues = 5 } == nil)
    }

    @Test("are the rows and bytes of its plan")
    func plan() throws {
        let members = (0..<100).map { #""member\#($0)":{"minLength":\#($0 + 1)}"# }.joined(separator: ",")
        let schema = "{\"properties\":{\(members)}}"
        #expect(try isRefused(schema) { $0.planInstructions = 100 })
        #expect(try isRefused(schema) { $0.planBytes = 1000 })
    }

    @Test("are the bytes of its patterns")
    func patternBytes() throws {
        let rows = (0..<10).map { "{\"pattern\":\"^(?:[\\\\p{L}\($0)]+ )+$\"}" }.joined(separator: ",")
        #expect(try isRefused("{\"allOf\":[\(rows)]}") { $0.patternBytes = 100_000 })
    }

    @Test("are the bytes of its parts' places and identifiers")
    func placeBytes() throws {
        // The counted places are /properties/abc, the same with /not, /$defs/d, and its identifier with the surrounding
        // one.
        let schema = #"{"properties":{"abc":{"not":true}},"$id":"http://h/","$defs":{"d":{"$id":"d"}}}"#
        #expect(try isRefused(schema) { $0.placeBytes = 60 })
        #expect(try refusal(of: schema) { $0.limits.placeBytes = 200 } == nil)
    }

    @Test("are the bindings of its dynamic references")
    func bindings() throws {
        // Each of ten resources may be entered before the reference or not: 2^10 bindings.
        var defs = (0..<10).map { number in
            """
            "r\(number)":{"$id":"r\(number)","$dynamicAnchor":"a\(number)","anyOf":[{"$ref":"s\(number + 1)"}]},
            "s\(number)":{"$id":"s\(number)","anyOf":[{"$ref":"r\(number)"},{"$ref":"s\(number + 1)"}],
            "properties":{"x":{"$dynamicRef":"r\(number)#a\(number)"}}}
            """
        }
        defs.append(#""s10":{"$id":"s10"}"#)
        let schema = """
            {"$id":"https://example.com/root","$ref":"s0","$defs":{\(defs.joined(separator: ","))}}
            """
        let refused = try refusal(of: schema) { $0.limits.bindings = 500 }
        #expect(refused?.problems.first?.reason == .limit)
    }

    @Test("are the CPU time of compiling it")
    func time() throws {
        let members = (0..<2000).map { #""member\#($0)":{"pattern":"^[a-z]{1,\#($0 % 60 + 1)}x"}"# }.joined(
            separator: ",")
        let refused = try refusal(of: "{\"properties\":{\(members)}}") { $0.limits.compileMilliseconds = 0 }
        #expect(refused?.problems.first?.reason == .limit)
    }
}

@Suite("The limits on a value") struct ValueLimitsTests {
    @Test("are the bytes of its text")
    func bytes() throws {
        let schema = try compiled("{}") { $0.limits.payloadBytes = 5 }
        #expect(try schema.verdict(on: #""abc""#) == .valid)
        #expect(try schema.verdict(on: #""abcd""#) == .exhausted(.bytes))
    }

    @Test(
        "are the members of one object",
        arguments: [#"{"minProperties":1}"#, #"{"unevaluatedProperties":{"type":"integer"}}"#])
    func members(_ text: String) throws {
        let schema = try compiled(text) { $0.limits.membersPerObject = 3 }
        #expect(try schema.verdict(on: #"{"a":1,"b":2,"c":3}"#) == .valid)
        #expect(try schema.verdict(on: #"{"a":1,"b":2,"c":3,"d":4}"#) == .exhausted(.members))
    }

    @Test("are the steps of an evaluation, also under not")
    func steps() throws {
        for text in [#"{"items":{"type":"integer"}}"#, #"{"not":{"items":{"type":"integer"}}}"#] {
            let schema = try compiled(text) { $0.limits.steps = -148 }
            #expect(try schema.verdict(on: "[1,2,3,4,5,6,7]") == .exhausted(.steps))
        }
    }

    @Test("are measured by the text of the value, not by the document around it")
    func part() throws {
        let schema = try compiled(#"{"items":{"type":"string"}}"#) {
            ($0.limits.steps, $0.limits.payloadBytes) = (0, 500)
        }
        let value = "[" + [String](repeating: "1", count: 100).joined(separator: ",") + "]"
        let around = try document("{\"value\":\(value),\"rest\":\"" + String(repeating: "x", count: 10_000) + "\"}")
        let part = try #require(around.root["value"])
        var scratch = Scratch()
        #expect(schema.verdict(on: part, scratch: &scratch) == .exhausted(.bytes))
        #expect(schema.verdict(on: part, bytes: value.utf8.count, scratch: &scratch) == .invalid)
        #expect(schema.verdict(on: part, bytes: 9, scratch: &scratch) == .exhausted(.steps))
        #expect(schema.report(on: part, bytes: value.utf8.count).violations.count == 50)
        // The budget is two steps for each byte, which is not enough for fifty elements.
        #expect((1..<20).contains(schema.report(on: part, bytes: 9).violations.count))
    }

    @Test(
        "count the members and elements that unevaluated keywords look at",
        arguments: [
            (#"{"if":{"properties":{"a":true}},"unevaluatedProperties":{"type":"integer"}}"#, true),
            (#"{"if":{"prefixItems":[true]},"unevaluatedItems":{"type":"integer"}}"#, false),
        ])
    func unevaluated(_ text: String, _ isObject: Bool) throws {
        let value =
            isObject
            ? "{" + (0..<1_000).map { "\"b\($0)\":1" }.joined(separator: ",") + "}"
            : "[" + [String](repeating: "1", count: 1_000).joined(separator: ",") + "]"
        for (steps, verdict) in [(1_500, Verdict.exhausted(.steps)), (2_500, .valid)] {
            let schema = try compiled(text) { $0.limits.steps = steps - 10 * value.utf8.count }
            #expect(try schema.verdict(on: value) == verdict)
        }
    }

    @Test("count the checks of each element")
    func checks() throws {
        let value = "[" + [String](repeating: "0", count: 1_000).joined(separator: ",") + "]"
        let divisors = (1...100).map { "{\"multipleOf\":\($0)}" }.joined(separator: ",")
        for (steps, verdict) in [(50_000, Verdict.exhausted(.steps)), (150_000, .valid)] {
            let schema = try compiled("{\"items\":{\"allOf\":[\(divisors)]}}") {
                $0.limits.steps = steps - 10 * value.utf8.count
            }
            #expect(try schema.verdict(on: value) == verdict)
        }
    }

    @Test("count the bytes of texts whose content is read")
    func content() throws {
        let value = #""{\"a\":["# + String(repeating: " ", count: 1_000) + #"]}""#
        for (steps, verdict) in [(500, Verdict.exhausted(.steps)), (1_500, .valid)] {
            let schema = try compiled(#"{"contentMediaType":"application/json"}"#) {
                $0.assertsContent = true
                $0.limits.steps = steps - 10 * value.utf8.count
            }
            #expect(try schema.verdict(on: value) == verdict)
        }
    }

    @Test("are the steps of backtracking patterns")
    func patternSteps() throws {
        let schema = try compiled(#"{"pattern":"^(?=(a+)+$)(a+)+$"}"#) { $0.limits.patternSteps = 1000 }
        #expect(try schema.verdict(on: "\"" + String(repeating: "a", count: 40) + "!\"") == .exhausted(.patternSteps))
        let negated = try compiled(#"{"not":{"pattern":"^(?=(a+)+$)(a+)+$"}}"#) { $0.limits.patternSteps = 1000 }
        #expect(try negated.verdict(on: "\"" + String(repeating: "a", count: 40) + "!\"") == .exhausted(.patternSteps))
    }

    @Test("are the bytes of scratch memory")
    func memory() throws {
        let schema = try compiled(#"{"uniqueItems":true}"#)
        var scratch = Scratch(limitBytes: 1 << 10)
        let numbers = "[" + (0..<1000).map(String.init).joined(separator: ",") + "]"
        #expect(schema.verdict(on: try document(numbers).root, scratch: &scratch) == .exhausted(.memory))
        #expect(try schema.verdict(on: numbers) == .valid)
    }

    @Test("are calls within calls")
    func depth() throws {
        let schema = try compiled(##"{"items":{"$ref":"#"}}"##)
        let deep = String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)
        #expect(try schema.verdict(on: deep) == .exhausted(.depth))
        let usual = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try schema.verdict(on: usual) == .valid)
        let narrow = try compiled(##"{"items":{"$ref":"#"}}"##) { $0.limits.nesting = 63 }
        #expect(try narrow.verdict(on: usual) == .exhausted(.depth))
    }

    @Test("are the bytes that places take in a report")
    func places() throws {
        let schema = try compiled(#"{"additionalProperties":{"items":{"type":"string"}}}"#)
        let long = try document(#"{"\#(String(repeating: "x", count: 100_000))":[1,2,3]}"#)
        let report = schema.report(on: long.root)
        #expect(report.violations.count == 1)
        #expect(report.isTruncated)
        var options = ReportOptions()
        options.placeBytes = 500_000
        #expect(schema.report(on: long.root, options: options).violations.count == 3)
        #expect(!schema.report(on: long.root, options: options).isTruncated)
    }

    @Test("stop a report")
    func report() throws {
        let schema = try compiled(#"{"items":{"type":"string"}}"#)
        let value = try document("[" + (0..<80).map(String.init).joined(separator: ",") + "]")
        let report = schema.report(on: value.root)
        #expect(report.violations.count == 50)
        #expect(report.isTruncated)
        #expect(schema.report(on: value.root, limit: 100).violations.count == 80)
        #expect(!schema.report(on: value.root, limit: 100).isTruncated)
    }
}
