import Testing

@testable import HTTPServer

@Suite("Where a request comes from") struct ForwardedAddressTests {
    private static let proxies: Set = ["10.0.0.1", "10.0.0.2", "fd00::1"]

    private func client(_ peer: String, _ fields: String...) throws -> String {
        let address = try #require(RemoteAddress(Substring(peer)))
        let headers = Headers(fields.map { (name: "X-Forwarded-For", value: $0) })
        return address.client(headers) { Self.proxies.contains($0.description) }.description
    }

    @Test("is its connection's address unless that is a trusted proxy, whatever its fields contain")
    func stranger() throws {
        #expect(try client("192.0.2.9", "198.51.100.1") == "192.0.2.9")
        #expect(try client("192.0.2.9") == "192.0.2.9")
    }

    @Test("is the last address that trusted proxies have appended, however many there are")
    func proxied() throws {
        #expect(try client("10.0.0.1", "198.51.100.7") == "198.51.100.7")
        #expect(try client("10.0.0.1", "6.6.6.6, 198.51.100.7,10.0.0.2") == "198.51.100.7")
        #expect(try client("fd00::1", "6.6.6.6", "2001:db8::7") == "2001:db8::7")
        #expect(try client("10.0.0.1", "198.51.100.7:4711") == "198.51.100.7")
        #expect(try client("10.0.0.1", "[2001:db8::7]:4711") == "2001:db8::7")
        #expect(try client("::ffff:10.0.0.1", "198.51.100.7") == "198.51.100.7")
    }

    @Test(
        "is the proxy's where its field cannot be read",
        arguments: ["", "unknown", "198.51.100", "[::1", "a,b"])
    func unreadable(_ field: String) throws {
        #expect(try client("10.0.0.1", field) == "10.0.0.1")
    }

    @Test("is not looked for behind more than 32 proxies")
    func chain() throws {
        let hops = ["198.51.100.7"] + Array(repeating: "10.0.0.2", count: 40)
        #expect(try client("10.0.0.1", hops.joined(separator: ",")) == "10.0.0.2")
    }

    @Test("is what handlers see, and the proxy may have any number of connections")
    func served() async throws {
        var options = ServerOptions()
        options.limits.connectionsPerAddress = 1
        options.isTrustedProxy = { $0.isLoopback }
        try await withServer(
            options: options,
            routes: { router, _ in router.add(.get, "/address") { .text($0.remoteAddress.description) } },
            body: { server in
                let wires = try (0..<3).map { _ in try server.wire() }
                for wire in wires {
                    let answer = try wire.ask("GET", "/address", ["X-Forwarded-For: 198.51.100.7"])
                    #expect(answer.text == "198.51.100.7")
                }
            })
    }
}
