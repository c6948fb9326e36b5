import ChatModel
import FoundationEssentials
import HTTPClient
import Locking
import NATSSupport
import PostgresSupport
import TestSupport
import Testing

@testable import Gateway

@Suite("Nodes of a cluster", .enabled(if: PostgresServer.isInstalled && NATSServer.isInstalled))
struct ClusterTests {
    /// Runs two nodes, which start at the same time on an empty database, and calls `body` with their addresses.
    private func withTwoNodes(_ body: @escaping @Sendable ([String]) async throws -> Void) async throws {
        let (folder, bus) = (try TemporaryFolder(), try await NATSServer())
        var configuration = Configuration()
        configuration.listenPort = 0
        configuration.isDevelopment = true
        configuration.dataDirectory = folder.path + "/data"
        configuration.busServers = [bus.url]
        configuration.engineURL = try await PostgresServer.shared().makeDatabaseURL()
        let nodes = configuration
        let (addresses, listening) = AsyncStream.makeStream(of: String.self)
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        let stops = [AsyncStream.makeStream(of: Never.self), AsyncStream.makeStream(of: Never.self)]
        try await withThrowingTaskGroup { group in
            for stop in stops {
                group.addTask {
                    try await GatewayServer(nodes).run(
                        whenListening: { listening.yield($0) }, until: { for await _ in stop.stream {} })
                }
            }
            group.addTask {
                for await _ in ending {}
                for stop in stops { stop.continuation.finish() }
            }
            group.addTask {
                defer { end.finish() }
                var found: [String] = []
                for await address in addresses {
                    found.append(address)
                    if found.count == 2 { break }
                }
                try await body(found)
            }
            try await group.waitForAll()
        }
        await bus.stop()
    }

    private func call(_ client: Client, _ method: String, _ url: String, _ body: String = "") async -> OutboundResult {
        var request = OutboundRequest(method: method, url: url)
        request.headers = [
            (name: "Authorization", value: "Bearer dev"), (name: "Content-Type", value: "application/json"),
        ]
        request.body = Array(body.utf8)
        return await client.send(request)
    }

    @Test("start together on an empty database, and serve each other's events")
    func serveTogether() async throws {
        try await withTwoNodes { addresses in
            let client = try Client(options: ClientOptions(userAgent: "test", addressGuard: .disabled))
            let sent = await call(client, "POST", addresses[0] + "/v1/channels/demo/messages", #"{"text":"hello"}"#)
            #expect(sent.status == 201)
            let read = await call(client, "GET", addresses[1] + "/v1/channels/demo/events")
            #expect(read.status == 200)
            #expect(String(decoding: read.body, as: UTF8.self).contains("hello"))
            await client.shutdown()
        }
    }

    @Test("show what they measure in /metrics, each family with its type in the page on metrics")
    func metrics() async throws {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: top.appending(path: "docs/metrics.md"), encoding: .utf8)
        let row = /\| `(parley_node_[a-z_]+)` \| ([a-z]+) \|.*/
        let documented = page.split(separator: "\n").compactMap { try? row.wholeMatch(in: $0) }.map {
            "\($0.1) \($0.2)"
        }
        try await withTwoNodes { addresses in
            let client = try Client(options: ClientOptions(userAgent: "test", addressGuard: .disabled))
            _ = await call(client, "POST", addresses[0] + "/v1/channels/demo/messages", #"{"text":"hello"}"#)
            let lines = String(decoding: await call(client, "GET", addresses[0] + "/metrics").body, as: UTF8.self)
                .split(separator: "\n")
            let families = lines.filter { $0.hasPrefix("# TYPE parley_node_") }.map { String($0.dropFirst(7)) }
            #expect(families.sorted() == documented.sorted())
            #expect(lines.contains("parley_node_bus_connected 1"))
            #expect(lines.contains { $0.hasPrefix("parley_node_write_seconds_count ") && !$0.hasSuffix(" 0") })
            #expect(lines.contains { $0.hasPrefix("parley_store_bytes ") })
            #expect(lines.contains(#"parley_webhook_deliveries{state="dead"} 0"#))
            await client.shutdown()
        }
    }

    @Test("have servers that a command upgrades and checks")
    func servers() async throws {
        var configuration = Configuration()
        #expect(throws: SettingError.self) { try ClusterServers(configuration) }
        let bus = try await NATSServer()
        configuration.busServers = [bus.url]
        configuration.engineURL = try await PostgresServer.shared().makeDatabaseURL()
        let servers = try ClusterServers(configuration)
        #expect(try await servers.upgrade(isLast: true).oldest > 0)
        let results = await servers.check()
        #expect(results.allSatisfy { $0.status != .failure }, "\(results)")
        #expect(results.first { $0.check == "schema" }?.status == .ok)
        #expect(results.first { $0.check == "bus" }?.status == .ok)
        configuration.engineURL = "postgres://parley:hush@127.0.0.1:1/parley"
        let unreachable = try ClusterServers(configuration)
        let failure = await #expect(throws: SettingError.self) { try await unreachable.upgrade() }
        #expect(failure?.description.contains("hush") == false)
        #expect(await unreachable.check().contains { $0.status == .failure })
    }

    /// Runs a node, calls `body` with its address, and stops the node.
    private func withNode<Value: Sendable>(
        _ configuration: Configuration, _ body: @escaping @Sendable (String) async throws -> Value
    ) async throws -> Value {
        let (addresses, listening) = AsyncStream.makeStream(of: String.self)
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await GatewayServer(configuration).run(
                    whenListening: { listening.yield($0) }, until: { for await _ in ending {} })
            }
            var value: Value?
            for await address in addresses {
                value = try await body(address)
                break
            }
            end.finish()
            try await group.waitForAll()
            return try #require(value)
        }
    }

    @Test("tell clients of the events that a restored database has lost, after the command")
    func restore() async throws {
        let folder = try TemporaryFolder()
        let client = try Client(options: ClientOptions(userAgent: "test", addressGuard: .disabled))
        let server = try await PostgresServer.shared()
        var original = Configuration()
        original.listenPort = 0
        original.isDevelopment = true
        original.dataDirectory = folder.path + "/data"
        original.engineURL = try await server.makeDatabaseURL()
        let sent = try await withNode(original) { address in
            await call(client, "POST", address + "/v1/channels/demo/messages", #"{"text":"hello"}"#)
        }
        let cursor = try #require(
            String(decoding: sent.body, as: UTF8.self).firstMatch(of: /"timetoken":"([0-9]+)"/)
        ).output.1
        let name = try #require(original.engineURL.firstMatch(of: /test[0-9]+/)).output
        try await server.execute("CREATE DATABASE restored_\(name) TEMPLATE \(name)")
        let restored = {
            var copy = original
            copy.engineURL = original.engineURL.replacing(name, with: "restored_\(name)")
            return copy
        }()
        var refusal = ""
        do { _ = try await withNode(restored) { $0 } } catch { refusal = "\(error)" }
        #expect(refusal.contains("run 'parley engine restored' before a node starts"))

        let servers = try ClusterServers(restored)
        let interval = try #require(try await servers.recordRestore(isComplete: false))
        #expect(interval.after < interval.upTo && "\(interval.after)" >= cursor)
        let (poll, running) = try await withNode(restored) { address in
            let poll = await call(client, "GET", address + "/v1/poll?channel=demo&cursor=\(cursor)")
            do throws(SettingError) {
                _ = try await servers.recordRestore(isComplete: false)
                return (poll, "")
            } catch {
                return (poll, error.description)
            }
        }
        #expect(String(decoding: poll.body, as: UTF8.self).contains(#""reason":"restore""#))
        #expect(running.contains("a node uses the database"))
        await client.shutdown()
    }
}
