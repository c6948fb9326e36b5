import Glibc
import Locking

/// An HTTP server on a free port of this machine whose answers, or whose every byte, a test decides.
///
/// Each connection has a thread of its own, so one that is held back delays no other.
public final class ScriptedServer: Sendable {
    /// The server could not be set up.
    public struct Failure: Error {
        public let step: String, code: Int32
    }

    private struct State {
        var connections = 0
        var open: Set<Int32> = []
        var isListening = true
        var isShutDown = false
    }

    public let port: UInt16
    /// Every request that a connection has read, in the order they were complete.
    public let requests: Observed<[ReceivedRequest]>
    private let listener: Int32
    private let state = Lock(State())

    /// A server that replies to each request.
    ///
    /// - Parameter reply: called on the connection's thread, once the request is recorded.
    public convenience init(
        _ reply: @escaping @Sendable (ReceivedRequest) -> ScriptedReply = { _ in .status(204) }
    ) throws(Failure) {
        try self.init(script: { connection in
            while let request = connection.readRequest(), connection.send(reply(request)) {}
        })
    }

    /// A server that answers each request with these bytes.
    public convenience init(answering text: @escaping @Sendable (ReceivedRequest) -> String) throws(Failure) {
        try self.init { request in .text(text(request)) }
    }

    /// A server that runs a script for each connection and closes the connection after it.
    public static func perConnection(
        _ script: @escaping @Sendable (ServerConnection) -> Void
    ) throws(Failure) -> ScriptedServer {
        try ScriptedServer(script: script)
    }

    private init(script: @escaping @Sendable (ServerConnection) -> Void) throws(Failure) {
        // Not for the programs that other tests start: they would keep connections open.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw Failure(step: "socket", code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 512) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure(step: "bind", code: errno) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        requests = Observed()
        let hasStarted = startThread(name: "scripted") { [state, requests] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let number = state.withLock { state in
                    state.open.insert(descriptor)
                    state.connections += 1
                    return state.connections - 1
                }
                let isServed = startThread(name: "connection") {
                    script(ServerConnection(descriptor, number: number, requests: requests))
                    Self.end(descriptor, state)
                }
                if !isServed { Self.end(descriptor, state) }
            }
            // Here and not in `shutDown`: a number given back too early could be another server's listener by the time
            // this thread accepts from it.
            state.withLock { state in
                state.isListening = false
                close(listener)
            }
        }
        guard hasStarted else { throw Failure(step: "thread", code: EAGAIN) }
    }

    deinit { shutDown() }

    private static func end(_ descriptor: Int32, _ state: Lock<State>) {
        state.withLock { state in
            state.open.remove(descriptor)
            close(descriptor)
        }
    }

    /// Connections accepted so far.
    public var connectionCount: Int { state.withLock { $0.connections } }

    public var baseURL: String { "http://127.0.0.1:\(port)" }

    public func url(_ path: String = "/", scheme: String = "http", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    /// Closes the port and every connection. Idempotent.
    public func shutDown() {
        state.withLock { state in
            guard !state.isShutDown else { return }
            state.isShutDown = true
            if state.isListening { shutdown(listener, Int32(SHUT_RDWR)) }
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
