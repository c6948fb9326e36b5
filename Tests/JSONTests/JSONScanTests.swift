import CJansson
import TestSupport
import Testing

@testable import JSON

@Suite("The scan of a JSON text") struct JSONScanTests {
    private static func members(_ text: String, depth: Int = 64) -> [JSONScan.Member]? {
        JSONScan.members(of: Array(text.utf8), depth: depth)
    }

    @Test(
        "accepts the texts that clients send",
        arguments: [
            "{}", "[]", #""""#, "0", "-0", "-12.5", "1e9", "1E-99", "0.5e+07", "true", "false", "null",
            "999999999999999999", #"{"a":[{"b":{"a":1}},[],{}],"b" : "x"}"#, " { }".filter { $0 != " " },
            #"{"text":"Grüße, 日本, \ud83d\ude00 😀 \" \\ \/ \b \f \n \r \t \u00e9"}"#, #"{"ü":1,"ö":2}"#,
            "{\"a\":\r\n\t 1 , \"b\" :[ 1 , 2 ] }",
            String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
        ])
    func accepts(_ text: String) { #expect(Self.members(text) != nil) }

    @Test(
        "leaves every other text to jansson",
        arguments: [
            "", "{", "}", "{}}", "[1,]", "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\" 1}", "{a:1}", "01", "-", "1.", ".5",
            "1e",
            "+1", "nul", "truex", "[1 2]", "\"\u{1}\"", #""\x""#, #""\u12"#, #""\ud83d""#, #""\ude00""#,
            #""\ud83d\ud83d""#, #""\u0000""#, #"{"\u0061":1}"#, #"{"a":1,"a":2}"#, #"[{"b":{"a":1,"a":2}}]"#,
            "9223372036854775808", "1e400", "\"abc", "{\"abc",
            String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
        ])
    func leaves(_ text: String) { #expect(Self.members(text) == nil) }

    @Test(
        "leaves text that is not UTF-8 to jansson",
        arguments: [
            [0xFF], [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80],
            [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82, 0x41],
        ] as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) {
        #expect(JSONScan.members(of: [0x22] + bytes + [0x22], depth: 64) == nil)
        #expect(throws: JSONError.self) { try JSONDocument([0x22] + bytes + [0x22]) }
    }

    @Test("finds the members of the outer object") func outerMembers() throws {
        let text = #"{"a" : {"x":1}, "b":[2,{"c":3}] ,"":"z"}"#
        let members = try #require(Self.members(text))
        let utf8 = Array(text.utf8)
        #expect(members.map { String(decoding: utf8[$0.name], as: UTF8.self) } == ["a", "b", ""])
        #expect(
            members.map { String(decoding: utf8[$0.value], as: UTF8.self) } == [#"{"x":1}"#, #"[2,{"c":3}]"#, #""z""#])
    }

    @Test("remembers only a bounded number of names") func manyNames() throws {
        let names = (0..<JSONScan.mostNames + 1).map { "\"n\($0)\":\($0)" }
        #expect(Self.members("{\(names.dropLast().joined(separator: ","))}")?.count == JSONScan.mostNames)
        #expect(Self.members("{\(names.joined(separator: ","))}") == nil)
        // Names of objects that do not contain each other do not add up.
        let list = names.map { "{\($0),\"x\":0}" }
        #expect(Self.members("[\(list.joined(separator: ","))]") != nil)
    }

    /// Texts made of parts that are likely to break a scanner, seeded, compared with jansson.
    @Test("accepts only texts that jansson accepts, with the same members", arguments: UInt64(1)...40)
    func agreement(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "{", "}", "[", "]", ",", ":", " ", "\n", "\"", "\\", "\\\"", "\\u00e9", "\\ud83d", "\\ude00", "\\u12", "é",
            "\u{1}", "1", "-1.5e3", "0", "true", "nul", "null", "\"a\"", "\"a\":", "\"b\":1", "\"b\":1,", "{\"a\":",
            "[1,",
            "\"\\ud83d\\ude00\"", "\"12345678\"", "\"xxxxxxxxxxxxxxxx\\n\"", "😀",
        ]
        var accepted = 0
        for _ in 0..<2000 {
            var text = ["", "{\"a\":", "[", "{"][Int(random.next() % 4)]
            for _ in 0..<(random.next() % 10) { text += parts[Int(random.next() % UInt64(parts.count))] }
            text += ["", "}", "]", "\"}"][Int(random.next() % 4)]
            let bytes = Array(text.drop { $0 == " " || $0 == "\n" }.utf8)
            guard let members = JSONScan.members(of: bytes, depth: 64) else { continue }
            accepted += 1
            let tree = try JSONDocument.parse(bytes, numbers: .strict, duplicates: .refused)
            defer { json_decref(tree) }
            #expect(json_object_size(tree) == members.count, "\(text)")
            let raw = JSONText(trusted: bytes).memberRanges
            #expect(raw.map(\.name) == members.map(\.name) && raw.map(\.value) == members.map(\.value), "\(text)")
        }
        #expect(accepted > 20, "too few texts were valid")
    }
}

@Suite("The tree of a JSON document") struct JSONTreeTests {
    @Test("is the same for all threads that read it first at the same time") func concurrentReads() async throws {
        let document = try JSONDocument(Array(#"{"a":[1,2,3],"b":"x"}"#.utf8))
        let nodes = await withTaskGroup(of: UInt.self) { group in
            for _ in 0..<16 { group.addTask { UInt(bitPattern: document.root.node) } }
            return await group.reduce(into: Set<UInt>()) { $0.insert($1) }
        }
        #expect(nodes.count == 1)
    }
}
