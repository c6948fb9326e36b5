import Testing

@testable import Bench

@Suite("Chunks") struct ChunkDecoderTests {
    @Test("are decoded wherever the bytes are split", arguments: 1...12)
    func cuts(_ size: Int) {
        let wire = Array("5\r\nhello\r\nA;name=value\r\n, a world!\r\n0\r\n\r\n".utf8)
        var decoder = ChunkDecoder()
        var body: [UInt8] = []
        for start in stride(from: 0, to: wire.count, by: size) {
            var piece = Array(wire[start..<min(start + size, wire.count)])
            let count = piece.withUnsafeMutableBytes { decoder.decode($0.baseAddress!, $0.count) }
            body += piece.prefix(count)
        }
        #expect(String(decoding: body, as: UTF8.self) == "hello, a world!")
        #expect(decoder.isOver)
    }
}

@Suite("A message's head") struct MessageHeadTests {
    private func end(_ text: String) -> Int? {
        Array(text.utf8).withUnsafeBytes { bytes in MessageHead(bytes)?.end(in: bytes) }
    }

    @Test("says how long the message is")
    func length() {
        #expect(end("HTTP/1.1 201 Created\r\ncontent-length: 3\r\n\r\nabc") == 46)
        #expect(end("HTTP/1.1 201 Created\r\ncontent-length: 3\r\n\r\nab") == nil)
        #expect(end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n") == 58)
        #expect(end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n") == nil)
        #expect(end("HTTP/1.1 200 OK\r\nContent-Le") == nil)
    }

    @Test("says the status and whether the connection stays")
    func status() {
        Array("HTTP/1.1 503 Busy\r\nConnection: Close\r\n\r\n".utf8).withUnsafeBytes { bytes in
            #expect(MessageHead(bytes)?.status == 503 && MessageHead(bytes)?.isClosing == true)
        }
        Array("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n".utf8).withUnsafeBytes { bytes in
            #expect(MessageHead(bytes)?.isClosing == false)
        }
    }
}

@Suite("Frames") struct FrameScanTests {
    private func scan(_ text: String) -> (whole: Int?, id: String?) {
        var bytes = Array(text.utf8)
        return bytes.withUnsafeMutableBytes { bytes in
            let start = bytes.baseAddress!
            guard let end = FrameScan.lastEnd(start, start + bytes.count) else { return (nil, nil) }
            return (end - start, FrameScan.lastID(start, end).map { String(decoding: $0, as: UTF8.self) })
        }
    }

    @Test("are counted to the last empty line, and the last id is theirs")
    func lastFrame() {
        let frames = "id: 1\ndata: a\n\nevent: x\nid: 22\ndata: id: 9\n\n"
        #expect(scan(frames + "id: 333\ndata: not yet") == (frames.utf8.count, "22"))
        #expect(scan("data: b\nid:7\n\n:\n\n").id == "7")
        #expect(scan(":\n\n") == (3, nil))
        #expect(scan("id: 1\n") == (nil, nil))
    }
}

extension FrameScanTests {
    @Test("leave an id that a stream can continue from")
    func lastID() {
        var id = LastEventID()
        Array("17953003787131476".utf8).withUnsafeBytes { id.set($0) }
        #expect(id.text == "17953003787131476")
        Array("9:0".utf8).withUnsafeBytes { id.set($0) }
        #expect(id.text == "9:0")
    }
}
