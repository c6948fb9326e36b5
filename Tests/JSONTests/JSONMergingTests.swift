import JSON
import Testing

@Suite("Merge patch") struct JSONMergingTests {
    /// The table of RFC 7396, appendix A: original, patch, result.
    private static let table = [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
        (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
        (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
        (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
        ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ]

    private func json(_ text: String) throws -> JSONText { try JSONDocument(Array(text.utf8)).text }

    @Test("gives the results of RFC 7396", arguments: table)
    func standard(_ original: String, _ patch: String, _ result: String) throws {
        #expect(try json(original).merging(json(patch)) == json(result))
    }

    @Test(
        "returns the same bytes when it changes nothing, whatever white space the patch has",
        arguments: [
            "{}", #"{"a" : [1, 2], "c": {"d":"x \" y"}}"#, #"{"a":[1,2],"none":null}"#, #"{ "c" : { } }"#,
            "{\"c\":\n{\t\"d\":\"x \\\" y\"}}",
        ])
    func unchanged(_ patch: String) throws {
        let original = try json(#"{ "a": [1 ,2], "b":1.50,"c": {"d" : "x \" y"} }"#)
        #expect(try original.merging(json(patch)).description == original.description)
    }

    @Test("takes white space in texts and other spellings for changes")
    func spelling() throws {
        let original = try json(#"{"a":"x  y","b":[1.0]}"#)
        #expect(try original.merging(json(#"{"a":"x y"}"#)).description == #"{"a":"x y","b":[1.0]}"#)
        #expect(try original.merging(json(#"{"b":[1]}"#)).description == #"{"a":"x  y","b":[1]}"#)
        #expect(try json("[1, 2]").replaced(by: json("[1,2]")).description == "[1, 2]")
        #expect(try json("[1, 2]").replaced(by: json("[12]")).description == "[12]")
    }

    @Test("keeps the bytes of members that the patch does not name")
    func bytes() throws {
        let merged = try json(#"{"a":1.50, "b" : {"c":1e2,"d":"\u00e9"}}"#).merging(json(#"{"b":{"c":null}}"#))
        #expect(merged.description == #"{"a":1.50,"b":{"d":"\u00e9"}}"#)
    }

    @Test(
        "is computed from two values",
        arguments: [
            (#"{"a":1,"b":{"c":2,"d":3}}"#, #"{"b":{"c":2,"e":{"f":[1]}},"g":"h"}"#), ("{}", #"{"a":{"b":1}}"#),
            (#"{"a":1}"#, "{}"), (#"{"a":{"b":1}}"#, #"{"a":7}"#), ("[1]", #"{"a":1}"#), (#"{"a":1}"#, #"{"a":1}"#),
        ])
    func difference(_ present: String, _ wanted: String) throws {
        let (present, wanted) = (try json(present), try json(wanted))
        #expect(present.merging(present.mergePatch(to: wanted)) == wanted)
    }
}
