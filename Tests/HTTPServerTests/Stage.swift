import Glibc
import HTTPServer
import Logging
import TestSupport
import Testing

/// A server whose `/stream` subscribes to a broadcast.
struct Stage: Sendable {
    let server: Fixture
    let broadcast: Broadcast
    let connections: Observed<[StreamConnection]>
    let reasons: Observed<[StreamConnection.CloseReason]>
    /// Holds clients open that a test does not name.
    let clients = Observed<[Wire]>([])

    func append(_ frame: [UInt8]) async {
        await server.onLoop { [broadcast] in broadcast.append(frame) }
    }

    func append(_ text: String) async { await append(Array(text.utf8)) }

    /// Opens a stream, reads its header and `ready`, and returns both ends. The rest is plain bytes, as for HTTP/1.0
    /// clients, unless the log is in chunks.
    func open(receiveBuffer: Int32? = nil) async throws -> (wire: Wire, connection: StreamConnection) {
        let before = connections.value.count
        let wire = try await blocking { [server, isChunked = broadcast.isChunked] in
            let wire = try server.wire(receiveBuffer: receiveBuffer)
            wire.request("GET", "/stream", version: isChunked ? "1.1" : "1.0")
            let head = try wire.head()
            #expect(head.status == 200)
            let ready = isChunked ? try #require(try wire.chunk()) : try wire.read(through: "\n\n")
            #expect(String(decoding: ready, as: UTF8.self) == "event: ready\n\n")
            return wire
        }
        clients.update { $0.append(wire) }
        return (wire, connections.value[before])
    }
}

func withStage<Value: Sendable>(
    options: ServerOptions = ServerOptions(), log: Broadcast.Options = Broadcast.Options(),
    onDrain: @escaping @Sendable (Observed<[StreamConnection]>, Loop) async -> Void = { _, _ in },
    body: @escaping @Sendable (Stage) async throws -> Value
) async throws -> Value {
    let connections = Observed<[StreamConnection]>([])
    let reasons = Observed<[StreamConnection.CloseReason]>([])
    let broadcasts = Observed<[Broadcast]>([])
    let loops = Observed<[Loop]>([])
    return try await withAsyncServer(
        options: options, onDrain: { await onDrain(connections, loops.value[0]) }
    ) { router, loop in
        loops.update { $0 = [loop] }
        router.add(.get, "/stream") { _ in
            .stream(
                StreamOpening(headers: StreamOpening.eventStreamHeaders) { connection in
                    connections.update { $0.append(connection) }
                    connection.onClose { reason in reasons.update { $0.append(reason) } }
                    connection.send(Array("event: ready\n\n".utf8))
                    if let broadcast = broadcasts.value.first {
                        _ = connection.join(broadcast, at: broadcast.head)
                    }
                })
        }
        router.add(.get, "/append") { _ in
            broadcasts.value.first?.append(frame(1, size: 10))
            return .text("appended")
        }
        router.add(.get, "/hello") { _ in .text("hello") }
    } body: { server in
        let broadcast = await server.broadcast(log)
        broadcasts.update { $0 = [broadcast] }
        return try await body(
            Stage(server: server, broadcast: broadcast, connections: connections, reasons: reasons))
    }
}

func frame(_ number: Int, size: Int = 20) -> [UInt8] {
    let text = "data: \(number) "
    return Array((text + String(repeating: "x", count: max(0, size - text.utf8.count - 2)) + "\n\n").utf8)
}

/// The numbers of the frames in a stream's bytes. Records a failure for any bytes between them.
func numbers(_ bytes: [UInt8]) throws -> [Int] {
    try String(decoding: bytes, as: UTF8.self).split(separator: "\n\n").map { block in
        let words = block.split(separator: " ")
        return try #require(words.count >= 2 && words[0] == "data:" ? Int(words[1]) : nil, "\(block.prefix(80))")
    }
}
