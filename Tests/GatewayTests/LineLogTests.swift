import JSON
import Logging
import Testing

@testable import Gateway

@Suite("A log line") struct LineLogTests {
    @Test(
        "cannot be forged by a client's input",
        arguments: [
            ("plain", "plain"), ("two words", "\"two words\""), ("a\nb", "\"a\\nb\""),
            ("say \"x\"", "\"say \\\"x\\\"\""),
            ("tab\there", "\"tab\\u{9}here\""), ("", "\"\""), ("a=b", "\"a=b\""),
        ])
    func quoting(_ text: String, _ shown: String) { #expect(LineLogHandler.quoted(text) == shown) }

    @Test("is one JSON object for any text")
    func json() throws {
        let event = LogEvent(
            level: .warning, message: "said \"x\"\nand more", metadata: nil, source: "", file: "", function: "", line: 0
        )
        let line = LogFormat.json.line(event, module: "http", [("message", "no second one"), ("url", "a\nb")])
        #expect(line.last == UInt8(ascii: "\n") && !line.dropLast().contains(UInt8(ascii: "\n")))
        let root = try JSONDocument(Array(line.dropLast())).root
        #expect(root["message"]?.string == "said \"x\"\nand more" && root["level"]?.string == "warning")
        #expect(root["url"]?.string == "a\nb" && root["module"]?.string == "http")
    }
}
