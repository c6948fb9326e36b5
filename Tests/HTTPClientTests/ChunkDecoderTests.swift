import Testing

@testable import HTTPClient

@Suite("The framing of chunks") struct ChunkDecoderTests {
    @Test(
        "is removed, wherever the bytes are split",
        arguments: [
            ("3\r\nabc\r\n0\r\n\r\n", "abc", true), ("3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n", "abcde", true),
            ("A;x=\"1\"\r\n0123456789\r\n00\r\n\r\n", "0123456789", true), ("0\r\n\r\n", "", true),
            ("3 \r\n\r\n1\r\n1\r\n2\r\n0\r\n\r\n", "\r\n12", true), ("2\nab\n0\n\n", "ab", true),
            ("5\r\nab", "ab", false),
            ("ffffffffffffffffffff\r\nab", "ab", false), ("", "", false),
        ])
    func pieces(_ text: String, _ content: String, _ isOver: Bool) {
        let bytes = Array(text.utf8)
        for length in 1...max(bytes.count, 1) {
            var decoder = ChunkDecoder()
            var body: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: length) {
                bytes[start..<min(start + length, bytes.count)].withUnsafeBytes { piece in
                    decoder.decode(piece) { body += $0 }
                }
            }
            #expect(body == Array(content.utf8) && decoder.isOver == isOver, "in pieces of \(length)")
        }
    }
}
