import Glibc
import HTTPClient
import Locking
import TestSupport
import Testing

@Suite("To a blocked address") struct GuardedConnectionTests {
    @Test("no connection is made, whatever the URL calls it")
    func byURL() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient(ClientOptions()) { client in
            for host in [
                "127.0.0.1", "localhost", "2130706433", "127.1", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]",
                "0.0.0.0", "0", "017700000001", "0x7f000001", "0X7F.0.0.1", "127.0.1", "127.0.0.1.", "127.0.0.01",
                "LOCALHOST", "localhost.", "x.localhost", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:7f00:1]",
                "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
            ] {
                for scheme in ["http", "https"] {
                    let result = await client.send(OutboundRequest(url: server.url(scheme: scheme, host: host)))
                    #expect(result.failure?.reason == .blockedAddress, "\(scheme) \(host)")
                }
            }
        }
        #expect(server.connectionCount == 0)
    }

    /// DNS rebinding: the URL is acceptable, and the name resolves to an internal address when the client connects.
    @Test("no connection is made when a good name leads there")
    func byName() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        // With ::1 allowed the name passes the check of the URL. The server listens on 127.0.0.1, which is not allowed.
        let options = testOptions { $0.addressGuard = AddressGuard(allowing: [AddressBlock("::1")!]) }
        try await withClient(options) { client in
            for scheme in ["http", "https"] {
                for _ in 0..<3 {
                    let result = await client.send(OutboundRequest(url: server.url(scheme: scheme, host: "localhost")))
                    #expect(result.failure?.reason == .blockedAddress)
                    #expect(result.failure?.detail.contains("127.0.0.1") == true)
                    #expect(result.status == nil && result.connectedAddress != "127.0.0.1")
                }
            }
        }
        #expect(server.connectionCount == 0)
    }

    @Test("a connection is made once the address is listed, by name too")
    func allowed() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient { client in
            for host in ["127.0.0.1", "localhost"] {
                #expect(await client.send(OutboundRequest(url: server.url(host: host))).status == 200)
            }
        }
    }

    @Test("no request goes out once it is listed no more, not on a connection that was kept either")
    func takenFromTheList() async throws {
        let heard = Lock(0)
        let server = try ScriptedServer.perConnection { peer in
            while peer.readRequest() != nil {
                heard.withLock { $0 += 1 }
                peer.write(ok)
            }
        }
        let options = testOptions()
        try await withClient(options) { client in
            let results = Observed<[OutboundResult]>()
            let group = client.group { for (_, result) in $0 { results.append(result) } }
            func send(_ host: String) async -> OutboundResult {
                let count = results.value.count + 1
                group.send([(1, OutboundRequest(url: server.url(host: host)))])
                return await results.wait(count: count)[count - 1]
            }
            for host in ["127.0.0.1", "localhost"] { #expect(await send(host).status == 200) }
            // With this list the name still passes the check of the URL.
            options.addressGuard.replace(allowed: [AddressBlock("::1")!])
            for host in ["127.0.0.1", "localhost"] {
                #expect(await send(host).failure?.reason == .blockedAddress)
            }
            #expect(await send("127.0.0.1").failure?.detail.contains("webhook.allow") == true, "the URL tells")
            #expect(heard.withLock { $0 } == 2 && server.connectionCount == 2)
            // The connections are not kept for reuse.
            options.addressGuard.replace(allowed: [AddressBlock("127.0.0.0/8")!])
            #expect(await send("localhost").status == 200)
            #expect(server.connectionCount == 3)
        }
    }

    @Test("a connection is kept when the list is replaced by one that permits it too")
    func keptOnTheList() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        let options = testOptions()
        try await withClient(options) { client in
            #expect(await client.send(OutboundRequest(url: server.url())).status == 200)
            options.addressGuard.replace(allowed: [AddressBlock("127.0.0.1")!])
            #expect(await client.send(OutboundRequest(url: server.url())).status == 200)
        }
        #expect(server.connectionCount == 1)
    }

    @Test("a connection is made when the guard is disabled")
    func disabled() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient(testOptions { $0.addressGuard = .disabled }) { client in
            #expect(await client.send(OutboundRequest(url: server.url(host: "127.1"))).status == 200)
        }
    }
}
