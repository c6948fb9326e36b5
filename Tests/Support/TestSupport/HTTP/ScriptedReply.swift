/// A server's answer to one request.
public indirect enum ScriptedReply: Sendable {
    /// The connection goes on unless a header says `connection: close`.
    case status(Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [])
    /// These bytes; the connection goes on.
    case text(String)
    /// These bytes, then the end of the connection.
    case last([UInt8])
    /// A chunked body of these parts, then the end of the connection: the server's, or the client's if it is held.
    case stream([String], isHeld: Bool = false)
    /// The end of the connection without an answer.
    case close
    /// A reset of the connection.
    case reset
    /// Nothing until the latch opens.
    case held(Latch, then: ScriptedReply)

    /// A status and a body of text.
    public static func status(_ status: Int, _ body: String, headers: [(name: String, value: String)] = []) -> Self {
        .status(status, headers: headers, body: Array(body.utf8))
    }
}

extension ServerConnection {
    /// False when the connection is over.
    func send(_ reply: ScriptedReply) -> Bool {
        switch reply {
        case .status(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Status\r\ncontent-length: \(body.count)\r\n"
            for header in headers { head += "\(header.name): \(header.value)\r\n" }
            let isLast = headers.contains { $0.name == "connection" && $0.value == "close" }
            return write(Array((head + "\r\n").utf8) + (status == 204 ? [] : body)) && !isLast
        case .text(let text): return write(text)
        case .last(let bytes): write(bytes)
        case .stream(let parts, let isHeld):
            write("HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n")
            for part in parts { write("\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n") }
            if isHeld { waitForEnd() } else { write("0\r\n\r\n") }
        case .close: break
        case .reset: reset()
        case .held(let latch, let next):
            latch.passBlocking()
            return send(next)
        }
        return false
    }
}
