import JSON
import JSONSchema
import Testing

@Suite("A report") struct ReportTests {
    private func only(_ schema: String, _ value: String) throws -> Violation {
        let violations = try compiled(schema) { $0.formats = .assert }.violations(on: value)
        #expect(violations.count == 1, "\(violations)")
        return try #require(violations.first)
    }

    @Test(
        "describes each violation in one sentence",
        arguments: [
            (#"{"type":"integer"}"#, #""x""#, "type", "expected integer, got string", "integer"),
            (#"{"type":["integer","null"]}"#, "1.5", "type", "expected null or integer, got number", "null or integer"),
            (
                #"{"enum":["red","green"]}"#, #""gren""#, "enum",
                #"must be one of "red", "green"; did you mean "green"?"#, nil
            ),
            (#"{"const":{"a":1}}"#, "1", "const", "must be object", nil),
            (#"{"minimum":5}"#, "4", "minimum", "must be >= 5", ">= 5"),
            (#"{"exclusiveMaximum":5}"#, "5", "exclusiveMaximum", "must be < 5", "< 5"),
            (#"{"multipleOf":0.01}"#, "0.005", "multipleOf", "must be a multiple of 0.01", "multiple of 0.01"),
            (
                #"{"minLength":2}"#, #""é""#, "minLength", "must have at least 2 characters, has 1",
                "at least 2 characters"
            ),
            (#"{"pattern":"^a"}"#, #""b""#, "pattern", "does not match the pattern ^a", "^a"),
            (#"{"format":"date"}"#, #""2026-02-30""#, "format", "is not a valid date", "date"),
            (#"{"maxItems":1}"#, "[1,2]", "maxItems", "must have at most 1 element, has 2", "at most 1 element"),
            (#"{"uniqueItems":true}"#, "[1,2,1.0]", "uniqueItems", "elements 0 and 2 are equal", nil),
            (
                #"{"contains":{"type":"string"},"minContains":2}"#, #"["a"]"#, "contains",
                "must have at least 2 matching elements, has 1", nil
            ),
            (#"{"not":{}}"#, "1", "not", "must not match the schema in 'not'", nil),
            (#"{"required":["currency"]}"#, "{}", "required", "missing property currency", "currency"),
            (
                #"{"dependentRequired":{"a":["b"]}}"#, #"{"a":1}"#, "dependentRequired",
                "missing property b, which a requires", "b"
            ),
            ("false", "1", "", "no value is allowed here", nil),
        ] as [(String, String, String, String, String?)])
    func sentences(_ schema: String, _ value: String, _ keyword: String, _ detail: String, _ expected: String?) throws {
        let violation = try only(schema, value)
        #expect(violation.keyword == keyword)
        #expect(violation.detail == detail)
        #expect(violation.pointer == "#")
        if let expected { #expect(violation.expected == expected) }
    }

    @Test("points at the parent of a missing member and at an unknown one, and suggests a name")
    func members() throws {
        let schema =
            #"{"properties":{"a":{"properties":{"colour":{"type":"string"}},"required":["colour"],"additionalProperties":false}}}"#
        let violations = try compiled(schema).violations(on: #"{"a":{"color":"red"}}"#)
        #expect(violations.map(\.pointer) == ["#/a", "#/a/color"])
        #expect(violations.map(\.keyword) == ["required", "additionalProperties"])
        #expect(violations[0].detail == "missing property colour; the object has color; did you mean colour?")
        #expect(violations[1].detail == "property color is not allowed; did you mean colour?")
    }

    @Test("has the path through references and the keyword's own place, both escaped")
    func locations() throws {
        let schema = #"""
            {"$id":"https://example.com/root","properties":{"a/b":{"$ref":"other#/$defs/x%20~1y"}},
             "$defs":{"o":{"$id":"other","$defs":{"x /y":{"type":"string"}}}}}
            """#
        let violation = try only(schema, #"{"a/b":1}"#)
        #expect(violation.pointer == "#/a~1b")
        #expect(violation.keywordLocation == "/properties/a~1b/$ref/type")
        #expect(violation.absoluteKeywordLocation == "https://example.com/other#/$defs/x%20~1y/type")
    }

    @Test("is in the order of the value")
    func order() throws {
        let schema = #"{"properties":{"b":{"type":"string"},"a":{"items":{"type":"string"}}},"required":["c"]}"#
        let violations = try compiled(schema).violations(on: #"{"a":["x",1,2],"b":3}"#)
        #expect(violations.map(\.pointer) == ["#", "#/a/1", "#/a/2", "#/b"])
    }

    @Test("reports only the alternative that a discriminating member selects")
    func told() throws {
        let schema = #"""
            {"oneOf":[{"properties":{"kind":{"const":"text"},"text":{"type":"string"}},"required":["kind","text"]},
                      {"properties":{"kind":{"enum":["image","photo"]},"width":{"type":"integer"}},"required":["kind","width"]}]}
            """#
        let violations = try compiled(schema).violations(on: #"{"kind":"photo","width":"wide"}"#)
        #expect(violations.map(\.pointer) == ["#/width"])
        #expect(violations.first?.keywordLocation == "/oneOf/1/properties/width/type")
    }

    @Test("reports the alternative that got furthest, else one sentence on all of them")
    func alternatives() throws {
        let deep = try only(#"{"anyOf":[{"type":"string"},{"items":{"type":"integer"},"type":"array"}]}"#, #"[1,"x"]"#)
        #expect(deep.pointer == "#/1")
        let kinds = try only(#"{"anyOf":[{"type":"string"},{"type":"integer","minimum":0}]}"#, "{}")
        #expect(kinds.detail == "expected string or integer, got object")
        let none = try only(#"{"anyOf":[{"minimum":5},{"multipleOf":2}]}"#, "3")
        #expect(none.detail == "matches none of the 2 alternatives")
        let two = try only(#"{"oneOf":[{"minimum":1},{"type":"string"},{"multipleOf":2}]}"#, "4")
        #expect(two.detail == "must match exactly one alternative, but matches alternatives 1 and 3")
    }

    @Test("lists every alternative when asked to")
    func everything() throws {
        let schema = try compiled(#"{"anyOf":[{"minimum":5},{"multipleOf":2}]}"#)
        var options = ReportOptions()
        options.listsEveryBranch = true
        let report = schema.report(on: try document("3").root, options: options)
        #expect(report.violations.map(\.keywordLocation) == ["/anyOf/0/minimum", "/anyOf/1/multipleOf"])
    }

    @Test("quotes nothing of the value that is long or secret")
    func redaction() throws {
        let secret = "hunter22"
        let long = String(repeating: "x", count: 65)
        let schema = try compiled(
            "{\"properties\":{\"password\":{\"enum\":[\"hunter2\"]},\"a\":{\"const\":\"y\"}},\"additionalProperties\":false}"
        )
        let report = schema.report(
            on: try document("{\"password\":\"\(secret)\",\"a\":\"\(long)\",\"\(long)\":1}").root)
        #expect(report.violations.count == 3)
        for violation in report.violations {
            #expect(!violation.detail.contains("did you mean"))
            #expect(!violation.detail.contains(secret))
            #expect(!violation.detail.contains(long))
        }
    }

    @Test("does not compute a known verdict again")
    func known() throws {
        let schema = try compiled(#"{"type":"string"}"#)
        #expect(schema.reasons(on: try document("1").root).violations.map(\.keyword) == ["type"])
        // Given a verdict of "invalid" for a valid value, the report must accept it.
        let report = schema.reasons(on: try document(#""x""#).root)
        #expect(report.violations.map(\.pointer) == ["#"])
        #expect(report.isTruncated)
    }

    @Test("is empty for a valid value")
    func valid() throws {
        #expect(try compiled(#"{"type":"string"}"#).violations(on: #""x""#).isEmpty)
    }
}
