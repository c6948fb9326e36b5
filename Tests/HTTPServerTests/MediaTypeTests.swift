import HTTPServer
import Testing

@Suite("A media type") struct MediaTypeTests {
    @Test(
        "is read without parameters, case and blanks",
        arguments: [
            ("application/json", "application/json"), ("Application/JSON; charset=utf-8", "application/json"),
            ("text/plain;format=flowed", "text/plain"), (" text/html ", "text/html"), ("json", "json"), ("", ""),
        ])
    func reading(_ field: String, _ text: String) {
        #expect(MediaType(field).text == text)
    }

    @Test(
        "knows JSON",
        arguments: [
            ("application/json", true), ("text/json", true), ("application/cloudevents+json; charset=utf-8", true),
            ("image/json", false), ("application/jsonp", false), ("application/xml", false), ("", false),
        ])
    func json(_ field: String, _ isJSON: Bool) {
        #expect(MediaType(field).isJSON == isJSON)
    }

    @Test(
        "knows text",
        arguments: [
            ("text/plain", true), ("application/xml", true), ("image/svg+xml", true), ("application/json", false),
            ("application/octet-stream", false),
        ])
    func text(_ field: String, _ isText: Bool) {
        #expect(MediaType(field).isText == isText)
    }

    @Test(
        "is chosen by the client's preference",
        arguments: [
            ([], "text/a"), (["*/*"], "text/a"), (["image/c"], "image/c"), (["text/*"], "text/a"),
            (["text/a;q=0.2, text/b;q=0.5"], "text/b"), (["text/a;q=0.2", "text/b; Q=0.5"], "text/b"),
            (["text/*;q=0.9, text/a;q=0.1"], "text/b"), (["*/*, text/*;q=0, image/*;q=0.3"], "image/c"),
            (["TEXT/B"], "text/b"), (["text/b ; level=1 ; q=1 , text/a;q=0.999"], "text/b"), (["nonsense"], "text/a"),
            (["nonsense, text/b"], "text/b"),
        ] as [([String], String)])
    func choice(_ accept: [String], _ chosen: String) {
        #expect(Self.choose(accept) == chosen)
    }

    @Test(
        "is none when the client accepts none of them",
        arguments: ["video/d", "*/*;q=0", "text/a;q=0, text/b;q=-1, image/c;q=nan", "video/*, text/a;q=2"])
    func refusal(_ accept: String) {
        #expect(Self.choose([accept]) == nil)
    }

    private static func choose(_ accept: [String]) -> String? {
        Headers(accept.map { ("Accept", $0) }).mostAccepted(of: ["text/a", "text/b", "image/c"]) { MediaType($0) }
    }
}
