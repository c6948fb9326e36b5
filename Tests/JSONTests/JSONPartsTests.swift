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
}
