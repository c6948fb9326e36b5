import JSON
import Testing

@testable import JSONSchema

@Suite("A draft from documents") struct SchemaInferenceTests {
    private func draft(_ texts: [String], _ options: InferenceOptions = InferenceOptions()) throws -> String {
        let documents = try texts.map { try JSONDocument(Array($0.utf8)) }
        let text = SchemaInference.draft(of: documents.map(\.root), options: options).description
        let head = #"{"$schema":"https://json-schema.org/draft/2020-12/schema""#
        #expect(text.hasPrefix(head))
        let rest = text.dropFirst(head.count)
        return rest.first == "," ? "{" + rest.dropFirst() : "{" + rest
    }

    @Test("names types, members in order of appearance, and members of all documents as required")
    func objects() throws {
        let text = try draft([#"{"b":1,"a":"x"}"#, #"{"c":[],"b":2.5}"#, #"{"b":null,"d":true}"#])
        #expect(
            text == #"{"type":"object","properties":{"b":{"type":["number","null"]},"a":{"type":"string"},"#
                + #""c":{"type":"array"},"d":{"type":"boolean"}},"required":["b"]}"#)
    }

    @Test("distinguishes integers from numbers")
    func numbers() throws {
        #expect(try draft(["1", "-2"]) == #"{"type":"integer"}"#)
        #expect(try draft(["1", "2.0"]) == #"{"type":"number"}"#)
    }

    @Test("merges the elements of arrays")
    func elements() throws {
        let text = try draft([#"[{"a":1},{"a":2,"b":"x"}]"#, #"[null]"#, "[]"])
        #expect(
            text == #"{"type":"array","items":{"type":["object","null"],"#
                + #""properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a"]}}"#)
    }

    @Test("closes objects when asked to")
    func closed() throws {
        let text = try draft([#"{"a":{}}"#], InferenceOptions(closesObjects: true))
        #expect(
            text == #"{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"#
                + #""required":["a"],"additionalProperties":false}"#)
    }

    @Test(
        "recognises formats that all strings have",
        arguments: [
            (["2024-02-29T12:00:00Z", "1999-01-01T00:00:00.5+01:00"], "date-time"),
            (["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], "uuid"), (["https://a.example/b", "ftp://x.example"], "uri"),
            (["a@b.example"], "email"), (["127.0.0.1", "192.0.2.7"], "ipv4"),
        ])
    func formats(texts: [String], format: String) throws {
        #expect(try draft(texts.map { "\"\($0)\"" }) == #"{"type":"string","format":"\#(format)"}"#)
        #expect(try draft((texts + ["plain"]).map { "\"\($0)\"" }) == #"{"type":"string"}"#)
    }

    @Test("treats no word with a colon as a URI")
    func colon() throws {
        #expect(try draft([#""note:hello""#]) == #"{"type":"string"}"#)
    }

    @Test("lists few words when it has seen them often enough")
    func words() throws {
        let few = (0..<20).map { #""\#(["red", "green", "blue"][$0 % 3])""# }
        #expect(try draft(few) == #"{"type":"string","enum":["red","green","blue"]}"#)
        #expect(try draft(few + ["null"]) == #"{"type":["string","null"],"enum":["red","green","blue",null]}"#)
        #expect(try draft(few + ["1"]) == #"{"type":["string","integer"]}"#)
        #expect(try draft(Array(few.prefix(19))) == #"{"type":"string"}"#)
        #expect(try draft(few, InferenceOptions(enumLimit: 2)) == #"{"type":"string"}"#)
        #expect(try draft((0..<40).map { #""w\#($0 % 9)""# }) == #"{"type":"string"}"#)
    }

    @Test("without documents is empty")
    func nothing() throws {
        #expect(try draft([]) == "{}")
    }

    @Test("accepts every document it came from, whatever the options", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func acceptance(seed: UInt64) throws {
        var random = RandomSchemas(seed: seed)
        for _ in 0..<60 {
            let count = random.number(1...40)
            let documents = try (0..<count).map { _ in try JSONDocument(Array(random.value(depth: 4).utf8)) }
            let options = InferenceOptions(
                closesObjects: random.chance(50), enumLimit: random.number(0...8), enumEvidence: random.number(1...20))
            let text = SchemaInference.draft(of: documents.map(\.root), options: options)
            #expect(text == SchemaInference.draft(of: documents.map(\.root), options: options))
            let schema = try Schema(try JSONDocument(text.bytes))
            var scratch = Scratch()
            for document in documents {
                #expect(
                    schema.verdict(on: document.root, scratch: &scratch) == .valid,
                    "seed \(seed): \(document.text) against \(text)")
            }
        }
    }

    @Test("stays a schema that can be declared when documents are deep, wide or full of long names")
    func hostile() throws {
        let deep = String(repeating: #"{"a":["#, count: 31) + "1" + String(repeating: "]}", count: 31)
        let wide = "{" + (0..<5_000).map { "\"m\($0)\":\($0)" }.joined(separator: ",") + "}"
        let name = String(repeating: "n", count: 250)
        let long = "{" + (0..<1_900).map { "\"\(name)\($0)\":\"v\"" }.joined(separator: ",") + "}"
        for text in [deep, wide, long] {
            let document = try JSONDocument(Array(text.utf8))
            let draft = SchemaInference.draft(of: [document.root], options: InferenceOptions(closesObjects: true))
            var options = SchemaOptions()
            options.limits.membersPerObject = 10_000
            // Without optimisation, compiling takes many times longer.
            options.limits.compileMilliseconds = 20_000
            let schema = try Schema(try JSONDocument(draft.bytes, limits: JSONLimits(depth: 200)), options: options)
            var scratch = Scratch()
            #expect(schema.verdict(on: document.root, scratch: &scratch) == .valid)
        }
    }
}
