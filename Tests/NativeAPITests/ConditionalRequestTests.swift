import ChatModel
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A conditional request", .timeLimit(.minutes(2))) struct ConditionalRequestTests {
    @Test("keeps its connection when nothing has changed")
    func keepsConnection() async throws {
        try await StreamHarness.run { gateway in
            let event = try await gateway.emit("a")
            let type = try await gateway.call("PUT", "/v1/event-types/t", "{}")
            #expect(type.status == 201)
            _ = try await gateway.call("POST", "/v1/event-types/t/versions", #"{"schema":true}"#)
            for target in ["/v1/events/\(event.eventID)", "/v1/event-types/t", "/v1/event-types/t/versions/1"] {
                let tag = try #require(try await gateway.call("GET", target).header("ETag"), "\(target)")
                let connection = try ByteConnection(port: gateway.port)
                for _ in 0..<3 {
                    let answer = try await ask(connection, target, tag)
                    #expect(answer.hasPrefix("HTTP/1.1 304 "), "\(target)")
                    #expect(answer.contains("ETag: \(tag)\r\n"))
                    #expect(!answer.contains("Connection: close"))
                }
                connection.close()
            }
        }
    }

    /// The answer's header, which ends it; as much as came before the end of the connection.
    private func ask(_ connection: ByteConnection, _ target: String, _ tag: String) async throws -> String {
        let lines = ["GET \(target) HTTP/1.1", "Host: x", "Authorization: Bearer dev", "If-None-Match: \(tag)", "", ""]
        try connection.send(Array(lines.joined(separator: "\r\n").utf8))
        var answer: [UInt8] = []
        while !answer.suffix(4).elementsEqual("\r\n\r\n".utf8), let bytes = await connection.next() { answer += bytes }
        return String(decoding: answer, as: UTF8.self)
    }
}
