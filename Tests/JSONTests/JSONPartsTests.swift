import JSON
import Testing

@Suite("A JSON text's parts") struct JSONPartsTests {
    private static let text = try? JSONDocument(
        Array(#"{"a":[ 1.50, {"b/c":"x"}, [] ],"\u0061b":2,"é":3,"0":{"0":[7]}}"#.utf8)
    ).text

    @Test(
        "are found by pointers, byte for byte",
        arguments: [
            ("/a/0", "1.50"), ("/a/1/b~1c", #""x""#), ("/a/2", "[]"), ("/ab", "2"), ("/é", "3"), ("/0/0/0", "7"),
            ("/a", #"[ 1.50, {"b/c":"x"}, [] ]"#),
        ])
    func found(pointer: String, expected: String) throws {
        #expect(try #require(Self.text).at(try #require(JSONPointer(pointer)))?.description == expected)
    }

    @Test(
        "are absent where a pointer has no target",
        arguments: [
            "/b", "/a/3", "/a/-1", "/a/00", "/a/01", "/a/-", "/a/x", "/ab/0", "/", "/e\u{301}",
            "/a/99999999999999999999",
        ])
    func missing(pointer: String) throws {
        #expect(try #require(Self.text).at(try #require(JSONPointer(pointer))) == nil)
    }

    @Test("are found by their place in an array")
    func elements() throws {
        let list = try JSONDocument(Array("[1, [2],3 ]".utf8)).text
        #expect((0..<4).map { list.rawElement($0)?.description } == ["1", "[2]", "3", nil])
        #expect(list.rawElement(-1) == nil)
        #expect(try #require(Self.text).rawElement(0) == nil)
    }

    @Test("of an object have its parsed values and its bytes, and none belong to a text that is no object")
    func members() throws {
        let text = JSONText(trusted: Array(#"{"a" : 1.50, "\u0062":[ 2 ]}"#.utf8))
        let members = try #require(JSONMembers(text))
        #expect(members["a"]?.text.description == "1.50")
        #expect(members["a"]?.value?.double == 1.5)
        #expect(members["b"]?.text.description == "[ 2 ]")
        #expect(members["b"]?.value?.count == 1)
        #expect(members["c"] == nil)
        #expect(members.names(otherThan: ["a"]) == ["b"])
        let odd = try JSONDocument(Array(#"{"":1,"a\"":2,"\u0061":3,"aaaaaa":4}"#.utf8))
        let named = try #require(JSONMembers(odd))
        #expect(["", "a\"", "a", "aaaaaa"].map { named[$0]?.text.description } == ["1", "2", "3", "4"])
        #expect(["a\\\"", "\\u0061", "aaaaa"].allSatisfy { named[$0] == nil })
        #expect(named.names(otherThan: ["a", "aaaaaa"]) == ["", "a\""])
        #expect(JSONMembers(JSONText(trusted: Array("1".utf8))) == nil)
        let repeated = try JSONDocument(Array(#"{"a":1,"a":2}"#.utf8), duplicates: .lastWins)
        #expect(JSONMembers(repeated)?["a"]?.text.description == "2")
        #expect(repeated.root["a"]?.integer == 2)
        #expect(repeated.text.rawMember("a")?.description == "2")
    }

    @Test("of a body are found without a document, and jansson decides what the scan does not accept")
    func parsing() throws {
        let members = try #require(try JSONMembers(parsing: Array(" {\"a\":1,\"\\u0062\":true} \n".utf8)))
        #expect(members["a"]?.text.description == "1" && members["b"]?.boolean == true)
        #expect(members.names(otherThan: ["a"]) == ["b"])
        #expect(try JSONMembers(parsing: Array(" {\"a\":[2]}\n".utf8))?["a"]?.text.description == "[2]")
        #expect(try JSONMembers(parsing: Array(" [1]".utf8)) == nil)
        let refused = ["", " ", "{", "{\"a\":1,\"a\":2}", "{\"a\":[[1]]}", "{} {}"]
        for text in refused {
            #expect(throws: JSONError.self) {
                try JSONMembers(parsing: Array(text.utf8), limits: JSONLimits(depth: 2))
            }
        }
        #expect(throws: JSONError.self) {
            try JSONMembers(parsing: Array("{}  ".utf8), limits: JSONLimits(depth: 2, bytes: 3))
        }
    }

    @Test("of every kind are read from their bytes")
    func kinds() throws {
        let text = #"{"o":{},"a":[],"s":"t\u00fc\"","p":"ü","i":-7,"r":1e2,"b":true,"f":false,"n":null}"#
        let members = try #require(JSONMembers(JSONDocument(Array(text.utf8))))
        let kinds = ["o", "a", "s", "p", "i", "r", "b", "f", "n"].map { members[$0]?.kind }
        #expect(kinds == [.object, .array, .string, .string, .integer, .real, .boolean, .boolean, .null])
        #expect(members["s"]?.string == "tü\"" && members["p"]?.string == "ü" && members["i"]?.string == nil)
        #expect(members["b"]?.boolean == true && members["f"]?.boolean == false && members["s"]?.boolean == nil)
        #expect(members["n"]?.isNull == true && members["o"]?.isNull == false)
        #expect(members["r"]?.value?.double == 100 && members["r"]?.text.description == "1e2")
    }
}
