import NATS
import NATSSupport
import TestSupport
import Testing

@Suite("A connection to NATS", .enabled(if: NATSServer.isInstalled, NATSServer.installation))
struct ReconnectionTests {
    @Test("comes back with its subscriptions after the server was killed, and loses what is published meanwhile")
    func restart() async throws {
        let server = try await NATSServer()
        let events = Events()
        let connection = try await Connection.open(events.settings(server.url))
        let messages = Observed([[UInt8]]())
        _ = try await connection.collect("hints", into: messages)
        #expect(connection.isConnected)

        await server.kill()
        await events.wait(for: .disconnected)
        #expect(!connection.isConnected)
        #expect(await failure { try connection.publish([1], to: "hints") }?.kind == .notConnected)
        #expect(await failure { try await connection.flush() }?.kind == .notConnected)
        let later = Observed([[UInt8]]())
        _ = try connection.subscribe("later", pendingBytes: 1000) { later.append($0) }

        try await server.start()
        await events.wait(for: .reconnected)
        #expect(events.seen.value == [.disconnected, .reconnected])
        try await connection.flush()
        try connection.publish([2], to: "hints")
        try connection.publish([3], to: "later")
        #expect(await messages.wait(count: 1) == [[2]])
        #expect(await later.wait(count: 1) == [[3]])
        await connection.close()
        #expect(events.seen.value == [.disconnected, .reconnected])
    }

    @Test("closes while no server is there")
    func closeWhileDisconnected() async throws {
        let server = try await NATSServer()
        let events = Events()
        let connection = try await Connection.open(events.settings(server.url))
        await server.stop()
        await events.wait(for: .disconnected)
        await connection.close()
        #expect(await failure { try connection.publish([], to: "a") }?.kind == .closed)
    }

    @Test("is not opened without a server")
    func absentServer() async throws {
        let server = try NATSServer.stopped()
        let refused = await failure { try await Connection.open(Events().settings(server.url)) }
        #expect(refused?.kind == .unreachable)
        #expect(refused?.message == "NATS: connecting failed: No server available for connection")
    }

    @Test("is opened without a server if the settings say so, and connects when the server starts")
    func firstConnectionLater() async throws {
        let server = try NATSServer.stopped()
        let events = Events()
        var settings = events.settings(server.url)
        settings.retriesFirstConnection = true
        let connection = try await Connection.open(settings)
        #expect(!connection.isConnected)
        #expect(await failure { try connection.publish([], to: "a") }?.kind == .notConnected)
        let messages = Observed([[UInt8]]())
        _ = try connection.subscribe("a", pendingBytes: 1000) { messages.append($0) }

        try await server.start()
        await events.wait(for: .reconnected)
        try await connection.flush()
        try connection.publish([1], to: "a")
        #expect(await messages.wait(count: 1) == [[1]])
        #expect(events.seen.value == [.reconnected])
        await connection.close()
    }

    @Test("gives up at its deadline when a server accepts the connection and says nothing")
    func silentServer() async throws {
        let server = try SilentServer()
        var settings = Events().settings("nats://127.0.0.1:\(server.port)")
        settings.deadline = .milliseconds(200)
        let refused = await failure { try await Connection.open(settings) }
        #expect(refused?.kind == .timeout || refused?.kind == .unreachable)

        settings.retriesFirstConnection = true
        let connection = try await Connection.open(settings)
        #expect(!connection.isConnected)
        await connection.close()
    }

    @Test(
        "checks its settings",
        arguments: [
            ([], "no NATS server is given; give at least one URL"),
            (["http://a"], "http://a is not the URL of a NATS server; it begins with nats:// or tls://"),
            (["nats://me:secret@a"], "the URL of a NATS server contains credentials; give them separately"),
        ])
    func servers(servers: [String], message: String) async throws {
        let refused = await failure { try await Connection.open(ConnectionSettings(servers: servers, name: "test")) }
        #expect(refused?.kind == .invalid)
        #expect(refused?.message == message)
    }
}
