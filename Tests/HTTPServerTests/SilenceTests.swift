import Glibc
import HTTPServer
import TestSupport
import Testing

/// The kernel detects a machine that has vanished (`test_vanished_clients.py` unplugs a cable). These tests read back
/// the socket options that the server has set.
@Suite("A client whose machine may fail silently", .timeLimit(.minutes(2))) struct SilenceTests {
    private static func option(_ wire: Wire, _ level: Int32, _ option: Int32) -> Int32? {
        guard let descriptor = peer(of: wire) else { return nil }
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, level, option, &value, &size) == 0 ? value : nil
    }

    /// The server's end of a connection, which is in this process as well.
    private static func peer(of wire: Wire) -> Int32? {
        guard let own = port(wire.descriptor, getsockname), let server = port(wire.descriptor, getpeername) else {
            return nil
        }
        // Other tests open thousands of descriptors, and their connections may have the same port at this end.
        return (3..<Int32(getdtablesize())).first { port($0, getpeername) == own && port($0, getsockname) == server }
    }

    private static func port(
        _ descriptor: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> UInt16? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &size) }
        }
        return code == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static let tcp = Int32(IPPROTO_TCP)

    @Test("is probed only while it waits for a deferred response or follows a stream")
    func questions() async throws {
        var options = ServerOptions()
        options.deadlines.silence = .seconds(12)
        let replies = Observed<[DeferredResponse]>([])
        try await withAsyncServer(options: options) { router, _ in
            router.add(.get, "/hello") { _ in .text("hello") }
            router.add(.get, "/late") { _ in .deferred(DeferredStart { reply in replies.update { $0.append(reply) } }) }
            router.add(.get, "/stream") { _ in .stream(StreamOpening { _ in }) }
        } body: { server in
            for target in ["/late", "/stream"] {
                let wire = try server.wire()
                #expect(try wire.ask("GET", "/hello").status == 200)
                #expect(Self.option(wire, SOL_SOCKET, SO_KEEPALIVE) == 0)
                wire.request("GET", target)
                await waitUntil { Self.option(wire, SOL_SOCKET, SO_KEEPALIVE) == 1 }
                #expect(Self.option(wire, Self.tcp, TCP_KEEPIDLE) == 6)
                #expect(Self.option(wire, Self.tcp, TCP_KEEPINTVL) == 2)
                #expect(Self.option(wire, Self.tcp, TCP_USER_TIMEOUT) == 10_000)
            }
        }
    }
}
