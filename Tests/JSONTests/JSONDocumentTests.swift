import JSON
import TestSupport
import Testing

@Suite("A JSON document") struct JSONDocumentTests {
    func parse(
        _ text: String, limits: JSONLimits = JSONLimits(), numbers: JSONNumbers = .strict,
        duplicates: JSONDuplicates = .refused
    ) throws(JSONError) -> JSONDocument {
        try JSONDocument(Array(text.utf8), limits: limits, numbers: numbers, duplicates: duplicates)
    }

    @Test("keeps its bytes, less the white space around them")
    func keepsBytes() throws {
        let text = #"{"b": 100.10, "a":1e2,"é":"\u00e9"}"#
        #expect(try parse(" \n\(text)\t").text.description == text)
    }

    @Test("reads every kind of value")
    func kinds() throws {
        let root = try parse(#"{"o":{},"a":[1,"x"],"s":"t\u0000u","i":-7,"r":1.5,"b":true,"n":null}"#).root
        #expect(root.kind == .object)
        #expect(root["o"]?.kind == .object)
        #expect(root["a"]?[1]?.string == "x")
        #expect(root["s"]?.string == "t\0u")
        #expect(root["i"]?.integer == -7)
        #expect(root["r"]?.double == 1.5)
        #expect(root["b"]?.boolean == true)
        #expect(root["n"]?.isNull == true)
        #expect(root["missing"] == nil)
        #expect(root.members?.map(\.name) == ["o", "a", "s", "i", "r", "b", "n"])
    }

    @Test(
        "is refused with a reason",
        arguments: [
            ("", JSONError.Reason.malformed), ("{", .malformed), ("[1,]", .malformed), ("nul", .malformed),
            (#"{"a":1} x"#, .malformed), (#""\ud800""#, .malformed), ("1e400", .malformed),
            (#"{"\u0000":1}"#, .malformed),
            (#"{"a":1,"a":2}"#, .duplicateName), (#"{"a":1,"\u0061":2}"#, .duplicateName),
            ("9223372036854775808", .numberOutOfRange),
            (String(repeating: "[", count: 65), .tooDeep), (String(repeating: "[", count: 10_000), .tooDeep),
        ])
    func refusals(_ text: String, _ reason: JSONError.Reason) {
        let error = #expect(throws: JSONError.self) { try self.parse(text) }
        #expect(error?.reason == reason)
    }

    @Test("has a value for every number in lenient mode, and keeps its digits")
    func anyNumber() throws {
        let digits = String(repeating: "9", count: 400)
        let text = #"{"a":[1e400,-1E+999,\#(digits),0.1e-400,7],"1e400":"\"1e400"}"#
        let document = try parse(text, numbers: .any)
        let most = Double.greatestFiniteMagnitude
        #expect(document.text.description == text)
        #expect((0..<4).map { document.root["a"]?[$0]?.double } == [most, -most, most, 0])
        #expect(document.root["a"]?[4]?.integer == 7)
        #expect(document.root["1e400"]?.string == "\"1e400")
        #expect(try JSONDocument(document.text).root["a"]?[0]?.double == most)
        #expect(throws: JSONError.self) { try self.parse(text, numbers: .lenient) }
    }

    @Test(
        "must be valid JSON in lenient mode too",
        arguments: ["01e400", "1.e400", ".1e400", "1e400.5", "+1e400", "1e400e1", "[1e400", "-"])
    func anyButMalformed(_ text: String) {
        #expect(throws: JSONError.self) { try self.parse(text, numbers: .any) }
    }

    @Test(
        "is refused when its bytes are not UTF-8",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0xA0, 0x22], [0xEF, 0xBB, 0xBF, 0x31]])
    func notUTF8(_ bytes: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONDocument(bytes) }
        #expect(error?.reason == .malformed)
    }

    @Test("reports where parsing stopped")
    func position() {
        let error = #expect(throws: JSONError.self) { try self.parse("{\n  \"a\": tru\n}") }
        #expect(error?.line == 2)
        #expect((error?.column ?? 0) > 0)
    }

    @Test("counts depth outside strings only, and reports where it is too deep")
    func depth() throws {
        _ = try parse(#"{"a":"[[[[[[[[","b":[1]}"#, limits: JSONLimits(depth: 2))
        let error = #expect(throws: JSONError.self) { try self.parse("[\n[é[", limits: JSONLimits(depth: 2)) }
        #expect(
            error == JSONError(reason: .tooDeep, message: "nested deeper than 2 levels", line: 2, column: 3, offset: 5))
    }

    @Test("is refused above the byte limit without being parsed")
    func bytes() {
        let error = #expect(throws: JSONError.self) { try self.parse("[1,2,3]", limits: JSONLimits(bytes: 6)) }
        #expect(error?.reason == .tooLarge)
    }

    @Test("accepts a long integer when asked to be lenient, keeping its digits")
    func lenient() throws {
        let document = try parse(#"{"n":123456789012345678901234567890}"#, numbers: .lenient)
        #expect(document.root["n"]?.double == 1.2345678901234568e29)
        #expect(document.text.rawMember("n")?.description == "123456789012345678901234567890")
    }

    @Test("takes the last of equal names when asked to")
    func lastWins() throws {
        #expect(try parse(#"{"a":1,"a":2}"#, duplicates: .lastWins).root["a"]?.integer == 2)
    }

    @Test(
        "is walked by pointer",
        arguments: [
            ("", JSONValue.Kind.object), ("/a/1/b~1c", .string), ("/a/0", .integer), ("/~01", .null),
        ])
    func pointers(_ text: String, _ kind: JSONValue.Kind) throws {
        let root = try parse(#"{"a":[1,{"b/c":"x"}],"~1":null}"#).root
        #expect(root.at(try #require(JSONPointer(text)))?.kind == kind)
    }

    @Test("returns nothing at a pointer without a target", arguments: ["/b", "/a/2", "/a/01", "/a/-", "/a/0/x"])
    func lostPointers(_ text: String) throws {
        let root = try parse(#"{"a":[1,2]}"#).root
        #expect(root.at(try #require(JSONPointer(text))) == nil)
    }

    @Test("refuses an invalid pointer", arguments: ["a", "/~", "/~2"])
    func brokenPointers(_ text: String) { #expect(JSONPointer(text) == nil) }
}

@Suite("JSON text") struct JSONTextTests {
    @Test("gives the exact bytes of its members")
    func members() throws {
        let text = try JSONDocument(Array(#"{ "data" : { "x" : [1, "}\"]" ] } ,"d\u0061ta2":1.50,"s":"a\\"}"#.utf8))
            .text
        #expect(text.rawMembers()?.map(\.name) == ["data", "data2", "s"])
        #expect(text.rawMember("data")?.description == #"{ "x" : [1, "}\"]" ] }"#)
        #expect(text.rawMember("data2")?.description == "1.50")
        #expect(text.rawMember("s")?.description == #""a\\""#)
        #expect(text.rawMember("none") == nil)
    }

    @Test("gives the exact bytes of its elements")
    func elements() throws {
        let text = try JSONDocument(Array(#"[ 1.0 ,{"a":[]}, "x,y" , null]"#.utf8)).text
        #expect(text.rawElements()?.map(\.description) == ["1.0", #"{"a":[]}"#, #""x,y""#, "null"])
        #expect(JSONText(trusted: Array("[]".utf8)).rawElements() == [])
        #expect(JSONText(trusted: Array("{}".utf8)).rawElements() == nil)
    }

    @Test("loses its line breaks on one line, and nothing else")
    func oneLine() {
        let text = JSONText(trusted: Array("{\r\n  \"a\": \"x y\\n\"\n}".utf8))
        #expect(text.onOneLine().description == #"{  "a": "x y\n"}"#)
    }

    @Test("finds the same parts in random documents as the parser does")
    func randomDocuments() throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            let text = RandomJSON.value(&random, depth: 4)
            let document = try JSONDocument(Array(text.utf8))
            guard let members = document.root.members else { continue }
            let raw = try #require(document.rawMembers())
            #expect(raw.map(\.name) == members.map(\.name), "seed \(random.seed)")
            for (index, member) in raw.enumerated() {
                #expect(try JSONDocument(member.value).root.kind == members[index].value.kind, "seed \(random.seed)")
            }
        }
    }
}

@Suite("The JSON writer") struct JSONWriterTests {
    @Test("prints compact text that parses to the same values")
    func roundTrip() throws {
        let text = JSONText { writer in
            writer.beginObject()
            writer.member("s", "a\"\\\u{8}\u{c}\n\r\t\u{1f}é\0")
            writer.member("n", -5)
            writer.member("t", true)
            writer.nullMember("z")
            writer.key("list")
            writer.beginArray()
            writer.integer(1)
            writer.beginObject()
            writer.endObject()
            writer.raw(JSONText(trusted: Array("1.50".utf8)))
            writer.endArray()
            writer.endObject()
        }
        #expect(
            text.description == #"{"s":"a\"\\\b\f\n\r\t\u001fé\u0000","n":-5,"t":true,"z":null,"list":[1,{},1.50]}"#)
        #expect(try JSONDocument(text).root["s"]?.string == "a\"\\\u{8}\u{c}\n\r\t\u{1f}é\0")
    }

    @Test("prints the decimal digits of every number")
    func digits() {
        for number in [0, 7, 10, 99, 100, 101, 12_345, 1 << 63, .max] as [UInt64] {
            let text = JSONText { $0.member("n", prefix: "x", digits: number) }
            #expect(text.description == "\"n\":\"x\(number)\"")
        }
    }

    @Test("escapes a character at any position of a string of any length")
    func escapes() {
        for length in 0..<20 {
            let plain = String(repeating: "a", count: length)
            for position in 0...length {
                let (start, end) = (plain.prefix(position), plain.dropFirst(position))
                #expect(JSONText(string: "\(start)\n\(end)").description == "\"\(start)\\n\(end)\"")
                let member = JSONText { $0.member("m", "\(start)\n\(end)") }
                #expect(member.description == "\"m\":\"\(start)\\n\(end)\"")
            }
        }
    }

    @Test("prints every member after the first with a comma")
    func commas() {
        let text = JSONText { writer in
            writer.beginObject()
            for _ in 0..<2 {
                writer.member("s", "é")
                writer.member("d", prefix: "x", digits: 5)
                writer.member("i", -10)
                writer.member("b", false)
                writer.nullMember("n")
                writer.key("k")
                writer.beginArray()
                writer.boolean(true)
                writer.null()
                writer.endArray()
            }
            writer.endObject()
        }
        let members = #""s":"é","d":"x5","i":-10,"b":false,"n":null,"k":[true,null]"#
        #expect(text.description == "{\(members),\(members)}")
    }

    @Test("prints a text after other bytes without a comma, and on one line")
    func textAfterBytes() {
        var writer = JSONWriter()
        writer.splice("id: ")
        writer.splice(digits: 17)
        writer.splice(text: "\né\n")
        writer.beginText()
        writer.beginObject()
        writer.member("a", JSONText(trusted: Array("[1,\r\n\t2\n]".utf8)))
        writer.member("b", true)
        writer.endObject()
        writer.removeLineBreaks()
        writer.splice("\n")
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "id: 17\né\n{\"a\":[1,\t2],\"b\":true}\n")
    }

    @Test("prints bytes as UTF-8, and replaces invalid ones")
    func bytes() {
        let text = JSONText { writer in
            writer.beginArray()
            for bytes in [Array("a\"b".utf8), Array("é".utf8), [0x61, 0xff], []] {
                bytes.withUnsafeBufferPointer { writer.string(bytes: $0) }
            }
            writer.endArray()
        }
        #expect(text.description == "[\"a\\\"b\",\"é\",\"a\u{fffd}\",\"\"]")
    }

    @Test("prints integers of every width alike", arguments: [Int64.min, -1, 0, 1, .max])
    func integers(value: Int64) {
        let text = JSONText { writer in
            writer.beginObject()
            writer.member("a", value)
            writer.member("b", Int(value))
            writer.key("c")
            writer.integer(value)
            writer.endObject()
        }
        #expect(text.description == #"{"a":\#(value),"b":\#(value),"c":\#(value)}"#)
    }
}

enum RandomJSON {
    static func value(_ random: inout SeededGenerator, depth: Int) -> String {
        let space = [" ", "", "\n", ""].randomElement(using: &random) ?? ""
        switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &random) {
        case 0: return "\(Int.random(in: -1000...1000, using: &random))"
        case 1: return "1.5e\(Int.random(in: -9...9, using: &random))"
        case 2: return ["true", "false", "null"].randomElement(using: &random) ?? "null"
        case 3, 4: return string(&random)
        case 5:
            let elements = (0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, depth: depth - 1) }
            return "[\(space)\(elements.joined(separator: "\(space),"))\(space)]"
        default:
            let members = (0..<Int.random(in: 0...4, using: &random)).map { index in
                "\"k\(index)\\u00e9\"\(space):\(space)\(value(&random, depth: depth - 1))"
            }
            return "{\(space)\(members.joined(separator: ",\(space)"))\(space)}"
        }
    }

    private static func string(_ random: inout SeededGenerator) -> String {
        let parts = ["a", "\\\"", "\\\\", "{", "]", ",", ":", "é", "\\u0000", "😀"]
        return "\""
            + (0..<Int.random(in: 0...6, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
            .joined() + "\""
    }
}
