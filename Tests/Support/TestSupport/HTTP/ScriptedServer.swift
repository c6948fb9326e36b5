import Glibc
import Locking

/// An HTTP server on a free port of this machine. The test determines its responses, or every byte it sends.
///
/// Each connection has its own thread, so that a delayed one does not delay others.
public final class ScriptedServer: Sendable {
    /// The error when the server could not be set up.
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
    /// All requests that the connections have read, in the order of their completion.
    public let requests: Observed<[ReceivedRequest]>
    private let listener: Int32
    private let state = Lock(State())

    /// Creates a server that replies to each request.
    ///
    /// - Parameter reply: called on the connection's thread, after the request was recorded.
    public convenience init(
        _ reply: @escaping @Sendable (ReceivedRequest) -> ScriptedReply = { _ in .status(204) }
    ) throws(Failure) {
        try self.init(script: { connection in
            while let request = connection.readRequest(), connection.send(reply(request)) {}
        })
    }

    /// Creates a server that answers each request with these bytes.
    public convenience init(answering text: @escaping @Sendable (ReceivedRequest) -> String) throws(Failure) {
        try self.init { request in .text(text(request)) }
    }

    /// Creates a server that runs a script for each connection and then closes the connection.
    public static func perConnection(
        _ script: @escaping @Sendable (ServerConnection) -> Void
    ) throws(Failure) -> ScriptedServer {
        try ScriptedServer(script: script)
    }

    private init(script: @escaping @Sendable (ServerConnection) -> Void) throws(Failure) {
        // Close-on-exec: programs that other tests start would otherwise keep connections open.
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
            // Closed here and not in `shutDown`: a descriptor closed too early could be another server's listener by
            // the time this thread accepts from it.
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

    /// The number of accepted connections so far.
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

/// A server's reply to one request.
public indirect enum ScriptedReply: Sendable {
    /// A response with this status. The connection continues unless a header says `connection: close`.
    case status(Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [])
    /// These bytes; the connection continues.
    case text(String)
    /// These bytes, then the end of the connection.
    case last([UInt8])
    /// A chunked body of these parts. Then the server closes the connection, or waits for the client to do so when
    /// `isHeld` is true.
    case stream([String], isHeld: Bool = false)
    /// The end of the connection without a response.
    case close
    /// A reset of the connection.
    case reset
    /// A reply that waits until the latch opens.
    case held(Latch, then: ScriptedReply)

    /// A reply with a status and a text body.
    public static func status(_ status: Int, _ body: String, headers: [(name: String, value: String)] = []) -> Self {
        .status(status, headers: headers, body: Array(body.utf8))
    }
}

extension ServerConnection {
    /// Sends a reply. Returns false when the connection has ended.
    func send(_ reply: ScriptedReply) -> Bool {
        switch reply {
        case .status(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Status\r\ncontent-length: \(body.count)\r\n"
            for header in headers { head += "\(header.name): \(header.value)\r\n" }
            let isLast = headers.contains { $0.name == "connection" && $0.value == "close" }
            return write(Array((head + "\r\n").utf8) + (status == 204 ? [] : body)) && !isLast
        case .text(let text): return write(text)
        case .last(let bytes): write(bytes)
        case .stream(let parts, let isHeld):
            write("HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n")
            for part in parts { write("\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n") }
            if isHeld { waitForEnd() } else { write("0\r\n\r\n") }
        case .close: break
        case .reset: reset()
        case .held(let latch, let next):
            latch.passBlocking()
            return send(next)
        }
        return false
    }
}
