/// One request and its response over a connection of its own: the part of HTTP/1.1 that tests need.
public struct HTTPExchange: Sendable {
    public struct Malformed: Error { public let text: String }

    public let status: Int
    public let headers: [(name: String, value: String)]
    /// The body; empty for a stream.
    public let body: [UInt8]

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Sends a request and reads the complete response.
    public static func send(
        _ method: String, _ target: String, port: UInt16, headers: [(String, String)] = [], body: String = ""
    ) async throws -> HTTPExchange {
        let connection = try ByteConnection(port: port)
        try connection.send(request(method, target, headers: headers + [("Connection", "close")], body: body))
        var bytes: [UInt8] = []
        while let more = await connection.next() { bytes += more }
        let (status, fields, end) = try parseHead(bytes)
        return HTTPExchange(status: status, headers: fields, body: Array(bytes[end...]))
    }

    static func request(_ method: String, _ target: String, headers: [(String, String)], body: String) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if !body.isEmpty || method == "POST" || method == "PATCH" || method == "PUT" {
            text += "Content-Length: \(body.utf8.count)\r\n"
        }
        return Array((text + "\r\n" + body).utf8)
    }

    /// Returns the end of a response's header, or nil while it is incomplete.
    static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) }
            .map { $0 + 4 }
    }

    static func parseHead(
        _ bytes: [UInt8]
    ) throws -> (status: Int, headers: [(name: String, value: String)], end: Int) {
        guard let end = headEnd(bytes) else { throw Malformed(text: String(decoding: bytes, as: UTF8.self)) }
        let lines = String(decoding: bytes[..<(end - 4)], as: UTF8.self).split(separator: "\r\n")
        guard let words = lines.first?.split(separator: " "), words.count >= 2, let status = Int(words[1]) else {
            throw Malformed(text: String(decoding: bytes, as: UTF8.self))
        }
        let headers = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            let value = colon == line.endIndex ? "" : line[line.index(after: colon)...]
            return (name: String(line[..<colon]), value: String(value.drop { $0 == " " }))
        }
        return (status, headers, end)
    }
}
