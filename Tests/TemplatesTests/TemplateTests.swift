import JSON
import Templates
import Testing

/// Documents by name, and a table `header`.
struct Documents: TemplateContext {
    var documents: [String: String] = [:]
    var headers: [String: String] = [:]

    func document(_ root: String) -> JSONText? { documents[root].map { JSONText(trusted: Array($0.utf8)) } }
    func text(_ root: String, _ name: String) -> String? { root == "header" ? headers[name] : nil }
}

func json(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

@Suite("A template") struct TemplateTests {
    static func render(_ template: String, _ body: String = "{}", limitBytes: Int = 10_000) throws -> String {
        let template = try Template(json(template), roots: ["body", "event"])
        return try template.render(Documents(documents: ["body": body]), limitBytes: limitBytes).description
    }

    @Test(
        "produces the result of its instructions",
        arguments: [
            // References, byte for byte, with defaults.
            (#"{"$":"body"}"#, #"{"a": 1.50}"#, #"{"a": 1.50}"#),
            (#"{"x":{"$":"body/a~1b/0"}}"#, #"{"a/b":[100.10]}"#, #"{"x":100.10}"#),
            (#"{"$":"body/no","default":{"z":0.10}}"#, "{}", #"{"z":0.10}"#),
            // Texts.
            (
                #""a {body/n} {body/t|x} {body/u|x}{{}}""#, #"{"n":12345678901234567890,"t":true}"#,
                #""a 12345678901234567890 true x{}""#
            ),
            // Constants.
            (#"[1,null,{"a":"b"}]"#, "{}", #"[1,null,{"a":"b"}]"#),
            // Switch.
            (#"{"$switch":"body/k","cases":{"a":1,"b":{"$":"body/v"}},"default":"?"}"#, #"{"k":"b","v":[2]}"#, "[2]"),
            (#"{"$switch":"body/k","cases":{"a":1},"default":"?"}"#, "{}", #""?""#),
            (#"{"$switch":"body/k","cases":{"7":"seven"}}"#, #"{"k":7}"#, #""seven""#),
            // Each, inside each, with a condition.
            (
                #"{"$each":"body","as":"row","value":{"$each":"row/x","as":"cell","value":"{row/n}{cell}"}}"#,
                #"[{"n":"a","x":[1,2]},{"n":"b","x":[]}]"#, #"[["a1","a2"],[]]"#
            ),
            (
                #"{"$each":"body","as":"i","when":{"i/ok":true},"value":{"$":"i/v"}}"#,
                #"[{"ok":true,"v":1},{"ok":false,"v":2},{"v":3}]"#, "[1]"
            ),
            (#"{"$each":"body/no","as":"i","value":1,"default":[]}"#, "{}", "[]"),
            // Join.
            (#"{"$join":["a",{"$":"body/n"},"{body/t}"]}"#, #"{"n":1.0,"t":"z"}"#, #""a1.0z""#),
            (
                #"{"$join":{"$each":"body","as":"i","value":{"$":"i/name"}},"separator":", "}"#,
                #"[{"name":"a"},{"name":"b"}]"#, #""a, b""#
            ),
            // Conversions.
            (#"{"$":"body/n","to":"text"}"#, #"{"n":1.50}"#, #""1.50""#),
            (#"{"$":"body/n","to":"number"}"#, #"{"n":"1.50"}"#, "1.50"),
            (#"{"$":"body/n","to":"number","default":0}"#, #"{"n":"true"}"#, "0"),
            (#"{"$":"body/n","to":"lower"}"#, #"{"n":"ÄB"}"#, #""äb""#),
            (#"{"$":"body/n","to":"name"}"#, #"{"n":"/orders/create it"}"#, #""orders.create.it""#),
            (#"{"$":"body/n","to":"json"}"#, #"{"n":"{\"a\":1.0}"}"#, #"{"a":1.0}"#),
        ])
    func values(template: String, body: String, expected: String) throws {
        #expect(try Self.render(template, body) == expected)
    }

    @Test("names the places and references without a value, all of them")
    func gaps() throws {
        let template = #"{"a":"{body/x}-{body/y}","b":[{"$":"body/z"}],"c":{"$switch":"body/k","cases":{"1":1}}}"#
        let error = #expect(throws: TemplateError.self) { try Self.render(template, #"{"k":2}"#) }
        guard case .missing(let gaps) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(gaps.map(\.pointer) == ["/a", "/a", "/b/0", "/c/$switch"])
        #expect(gaps[0].detail == "{body/x} has no value")
        #expect(gaps[3].detail.contains("no case for '2', the value of {body/k}"))
    }

    @Test(
        "reports values that cannot be converted, repeated or joined",
        arguments: [
            (#"{"$":"body/n","to":"number"}"#, #"{"n":"x"}"#), (#"{"$":"body/n","to":"json"}"#, #"{"n":"{"}"#),
            (#"{"$each":"body/n","as":"i","value":1}"#, #"{"n":{}}"#), (#"{"$join":[{"$":"body"}]}"#, "{}"),
        ])
    func unconvertible(template: String, body: String) throws {
        let error = #expect(throws: TemplateError.self) { try Self.render(template, body) }
        guard case .missing(let gaps) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(gaps.count == 1)
    }

    @Test(
        "with a mistake is refused with the place of it",
        arguments: [
            (#""{x}""#, ""), (#"{"a":"{"}"#, "/a"), (#"{"a/b":"}"}"#, "/a~1b"), (#"{"a":{"$":"bdoy"}}"#, "/a/$"),
            (#"{"$":1}"#, "/$"), (#"{"$":"body","x":1}"#, "/x"), (#"{"$":"body","to":"pdf"}"#, "/to"),
            (#"{"$":"body/~2"}"#, "/$"), (#"{"$switch":"body","cases":{}}"#, "/cases"),
            (#"{"$switch":"body","cases":{"a":"{"}}"#, "/cases/a"), (#"{"$switch":"x","cases":{"a":1}}"#, "/$switch"),
            (#"{"$each":"body","as":"body","value":1}"#, "/as"), (#"{"$each":"body","value":1}"#, "/as"),
            (#"{"$each":"body","as":"i"}"#, ""), (#"{"$each":"body","as":"i","value":"{j}"}"#, "/value"),
            (#"{"$each":"body","as":"i","value":{"$each":"i","as":"i","value":1}}"#, "/value/as"),
            (#"[{"$each":"body","as":"i","value":1},"{i}"]"#, "/1"),
            (#"{"$each":"body","as":"i","value":1,"when":{}}"#, "/when"),
            (#"{"$each":"body","as":"i","value":1,"when":{"i":{"x":1}}}"#, "/when/i"),
            (#"{"$join":["a"],"separator":1}"#, "/separator"), ("{", ""),
        ])
    func mistakes(template: String, pointer: String) throws {
        let error = #expect(throws: TemplateFaults.self) { try Template(json(template), roots: ["body"]) }
        #expect(error?.faults.map(\.pointer).contains(pointer) == true, "\(String(describing: error))")
    }

    @Test("may not be long, deep, or full of references")
    func bounds() throws {
        func refused(_ text: String) -> Bool { (try? Template(json(text), roots: ["body"])) == nil }
        func references(_ count: Int) -> String {
            "[" + Array(repeating: #"{"$":"body"}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(!refused(references(256)))
        #expect(refused(references(257)))
        #expect(refused("\"" + String(repeating: "x", count: 32 * 1024) + "\""))
        #expect(!refused(String(repeating: "[", count: 64) + String(repeating: "]", count: 64)))
        #expect(refused(String(repeating: "[", count: 65) + String(repeating: "]", count: 65)))
    }

    @Test("gives no more bytes than asked for, by whatever way")
    func size() throws {
        let body = "\"" + String(repeating: "x", count: 600) + "\""
        for template in [
            #"{"$":"body"}"#, #"["{body}{body}"]"#, #"[{"$":"body"}]"#, #"{"$join":["{body}","{body}"]}"#,
        ] {
            #expect(throws: TemplateError.tooLarge(limitBytes: 500)) {
                try Self.render(template, body, limitBytes: 500)
            }
        }
    }

    @Test("ends its work where arrays inside arrays are made to cost")
    func work() throws {
        let body = "[" + Array(repeating: "1", count: 2000).joined(separator: ",") + "]"
        let nested =
            #"{"$join":{"$each":"body","as":"a","value":{"$join":{"$each":"body","as":"b","when":{"b":2},"value":1}}}}"#
        #expect(throws: TemplateError.tooMuchWork) { try Self.render(nested, body) }
    }

    @Test(
        "evaluates conditions as specified",
        arguments: [
            (#"{"body/a":"x"}"#, true), (#"{"body/a":"y"}"#, false), (#"{"body/a":["y","x"]}"#, true),
            (#"{"body/n":1}"#, true), (#"{"body/n":"1"}"#, true), (#"{"body/t":true}"#, true),
            (#"{"body/z":null}"#, true), (#"{"body/no":null}"#, true), (#"{"body/a":null}"#, false),
            (#"{"body/o":null}"#, false), (#"{"body/o":{"exists":true}}"#, true),
            (#"{"body/z":{"exists":true}}"#, false),
            (#"{"body/no":{"exists":false}}"#, true), (#"{"body/a":{"not":["x","y"]}}"#, false),
            (#"{"body/no":{"not":"x"}}"#, true), (#"{"body/a":"x","body/n":2}"#, false),
            (#"[{"body/a":"y"},{"body/n":1}]"#, true), (#"{"header/X":"h"}"#, true), (#"{"header/Y":"h"}"#, false),
        ])
    func conditions(condition: String, holds: Bool) throws {
        var compiler = TemplateCompiler(roots: [ReferenceRoot("body", .document), ReferenceRoot("header", .table)])
        let compiled = compiler.condition(json(condition), at: "")
        #expect(compiler.faults.isEmpty)
        let context = Documents(
            documents: ["body": #"{"a":"x","n":1,"t":true,"z":null,"o":{}}"#], headers: ["X": "h"])
        var run = TemplateRenderer(context)
        let outcome = try run.holds(try #require(compiled))
        #expect(outcome == holds)
    }
}
