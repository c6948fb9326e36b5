import JSON
import JSONSchema
import Testing

@Suite("A schema is refused") struct RefusalTests {
    private func problem(
        _ text: String, _ change: @escaping (inout SchemaOptions) -> Void = { _ in }
    ) throws -> SchemaError.Problem {
        let refused = try #require(try refusal(of: text, change))
        return try #require(refused.problems.first)
    }

    @Test("with the place in it and in its metaschema")
    func metaschema() throws {
        let problem = try problem(#"{"properties":{"a":{"minLength":-1}}}"#)
        #expect(problem.reason == .invalid)
        #expect(problem.pointer == "#/properties/a/minLength")
        #expect(problem.detail == "must be >= 0")
        #expect(problem.keywordLocation?.hasSuffix("/minLength/$ref/$ref/minimum") == true)
        #expect(
            problem.absoluteKeywordLocation
                == "https://json-schema.org/draft/2020-12/meta/validation#/$defs/nonNegativeInteger/minimum")
    }

    @Test(
        "when a keyword in it has no effect",
        arguments: [
            ("[]", .invalid, "#"),
            (##"{"$ref":"#/$defs/none"}"##, .unresolved, "#"),
            (#"{"if":false,"then":{"$ref":"https://example.com/none"}}"#, .unresolved, "#/then"),
            (#"{"properties":{"a":{"pattern":"a++"}}}"#, .pattern, "#/properties/a/pattern"),
            (#"{"$schema":"https://example.com/none"}"#, .unknownDialect, "#"),
            (#"{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"#, .identifier, "#/$defs/b"),
            (#"{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}"#, .identifier, "#/$defs/b"),
        ] as [(String, SchemaError.Problem.Reason, String)])
    func reasons(_ text: String, _ reason: SchemaError.Problem.Reason, _ pointer: String) throws {
        let problem = try problem(text)
        #expect(problem.reason == reason)
        #expect(problem.pointer == pointer)
    }

    @Test("when its metaschema requires an unknown vocabulary")
    func vocabulary() throws {
        var library = SchemaLibrary()
        let metaschema = #"""
            {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/meta",
             "$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,"https://example.com/vocab":true}}
            """#
        try library.add(try document(metaschema), at: "https://example.com/meta")
        let known = library
        let problem = try problem(#"{"$schema":"https://example.com/meta"}"#) { $0.library = known }
        #expect(problem.reason == .unknownDialect)
    }

    @Test("however large it is: the limits on values are not those on schemas")
    func large() throws {
        let members = (0..<1500).map { "\"m\($0)\":{\"type\":\"\($0 == 1400 ? "text" : "string")\"}" }
        let problem = try problem("{\"properties\":{\(members.joined(separator: ","))}}")
        #expect(problem.pointer == "#/properties/m1400/type")
    }

    @Test("never for its depth alone, up to the limit on that")
    func deep() throws {
        var text = #"{"type":"string"}"#
        for _ in 0..<49 { text = "{\"properties\":{\"a\":\(text)}}" }
        #expect(try refusal(of: text) == nil)
    }

    @Test("also where a reference leads to a value that no keyword makes a schema")
    func unknown() throws {
        #expect(try problem(##"{"x":{"type":"text"},"$ref":"#/x"}"##).reason == .invalid)
    }

    @Test("but not for a resource that speaks another dialect than its surroundings")
    func embedded() throws {
        let text = #"""
            {"$id":"https://example.com/a","$defs":{"old":{"$id":"old","$schema":"http://json-schema.org/draft-07/schema#",
             "items":[{"type":"string"}]}},"$ref":"old"}
            """#
        let schema = try compiled(text)
        #expect(try schema.verdict(on: #"["x"]"#) == .valid)
        #expect(try schema.verdict(on: "[1]") == .invalid)
    }
}
