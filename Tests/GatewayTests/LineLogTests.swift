import Testing

@testable import Gateway

@Suite("A log line") struct LineLogTests {
    @Test(
        "cannot be forged by what a stranger sends",
        arguments: [
            ("plain", "plain"), ("two words", "\"two words\""), ("a\nb", "\"a\\nb\""),
            ("say \"x\"", "\"say \\\"x\\\"\""),
            ("tab\there", "\"tab\\u{9}here\""), ("", "\"\""), ("a=b", "\"a=b\""),
        ])
    func quoting(_ text: String, _ shown: String) { #expect(LineLogHandler.quoted(text) == shown) }
}
