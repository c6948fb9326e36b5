import JSON
import TestSupport

/// A client that polls on one kept connection.
final class WirePoller: Sendable {
    private let connection: ByteConnection

    init(_ gateway: PubNubHarness) throws { connection = try ByteConnection(port: gateway.port) }

    /// - Parameter query: Begins with `&`.
    func ask(_ channels: String, _ cursor: String, _ query: String = "") throws {
        let text =
            "GET /v2/subscribe/sub-demo/\(channels)/0?uuid=bob&tt=\(cursor)&tr=1\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try connection.send(Array(text.utf8))
    }

    /// The next response, read by its declared length.
    func answer() async -> Batch {
        var text = ""
        while true {
            if let answer = Batch(text) { return answer }
            guard let more = await connection.next() else { return Batch(status: 0, text: "") }
            text += String(decoding: more, as: UTF8.self)
        }
    }

    func batch(_ channels: String, _ cursor: String, _ query: String = "") async throws -> Batch {
        try ask(channels, cursor, query)
        return await answer()
    }

    func close() { connection.close() }
}

/// The result of a poll.
struct Batch {
    let status: Int
    let text: String

    var json: JSONValue? { try? JSONDocument(Array(text.utf8)).root }
    var cursor: String { json?["t"]?["t"]?.string ?? "" }
    var items: [JSONValue] { json?["m"]?.elements ?? [] }
    var payloads: [String] { items.map { $0["d"]?.integer.map(String.init) ?? $0["d"]?.string ?? "?" } }
    /// The text without the digits of its timetokens, which a test cannot predict.
    var shape: String { text.replacing(/[0-9]{17}/, with: "<tt>") }

    init(status: Int, text: String) {
        self.status = status
        self.text = text
    }

    /// Nil while it is incomplete.
    init?(_ answer: String) {
        let parts: [Substring] = answer.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let lines: [Substring] = parts[0].split(separator: "\r\n")
        let field: Substring? = lines.first { $0.lowercased().hasPrefix("content-length: ") }
        guard parts[1].utf8.count >= field.flatMap({ Int($0.dropFirst(16)) }) ?? 0 else { return nil }
        status = Int(lines[0].dropFirst(9).prefix(3)) ?? 0
        text = String(parts[1])
    }
}
