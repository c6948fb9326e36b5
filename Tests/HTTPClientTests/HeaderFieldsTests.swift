import Testing

@testable import HTTPClient

@Suite("Header fields") struct HeaderFieldsTests {
    private let fields = HeaderFields(
        lines: Array(
            "Content-Type: text/plain\r\nRetry-After:  120 \r\nX-A: 1\nx-a: 2\r\nEmpty:\r\nX-\u{e9}: \u{e9}\r\n".utf8))

    @Test("are found in any case, the first of a name")
    func lookUp() {
        #expect(fields["content-type"] == "text/plain")
        #expect(fields["RETRY-AFTER"] == "120")
        #expect(fields["X-a"] == "1")
        #expect(fields["empty"] == "")
        #expect(fields["retry"] == nil && fields[""] == nil && fields["retry-after:"] == nil)
    }

    @Test("come in the order received")
    func order() {
        #expect(fields.map(\.name) == ["Content-Type", "Retry-After", "X-A", "x-a", "Empty", "X-\u{e9}"])
        #expect(fields.map(\.value) == ["text/plain", "120", "1", "2", "", "\u{e9}"])
        #expect(Array(HeaderFields()).isEmpty)
    }

    @Test("are visited as bytes, until it is enough")
    func visit() {
        var seen: [String] = []
        fields.visit { name, value in
            seen.append("\(String(decoding: name, as: UTF8.self))=\(String(decoding: value, as: UTF8.self))")
            return seen.count < 5
        }
        #expect(seen == ["Content-Type=text/plain", "Retry-After=120", "X-A=1", "x-a=2", "Empty="])
    }

    @Test("skip lines that are no header fields")
    func malformed() {
        let fields = HeaderFields(lines: Array("no colon\r\n folded: line\r\n\r\nA: b".utf8) + [0xff, 0x0a])
        #expect(fields.map(\.name) == ["A"])
        #expect(fields["a"] == "b\u{fffd}")
    }
}
