import Glibc
import Locking
public import TestSupport

/// A webhook's other end: a small HTTP server on a loopback port that records what it gets and answers as it is told.
///
/// Each connection has a thread of its own, so that one which is held back holds up nobody.
public final class Receiver: Sendable {
    /// What came.
    public struct Request: Sendable {
        public var method: String
        public var path: String
        public var headers: [(name: String, value: String)]
        public var body: [UInt8]
        /// Which connection it came on, from 0.
        public var connection: Int

        /// The value of the first field with this name in lower case.
        public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// What to answer.
    public indirect enum Answer: Sendable {
        case status(Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [])
        /// The connection is reset.
        case reset
        /// Bytes as they are, then the end of the connection.
        case raw([UInt8])
        /// Nothing until the latch opens.
        case held(Latch, then: Answer)
    }

    /// A receiver that cannot be set up.
    public struct Failure: Error {
        public var step: String
    }

    public let port: UInt16
    /// Everything received, in the order it was complete.
    public let requests = Observed<[Request]>()
    private let listener: Int32
    private struct State: Sendable {
        var connections = 0
        var open: Set<Int32> = []
        var isListening = true
        var isShutDown = false
    }

    private let state: Lock<State>

    /// - Parameter answer: called on the connection's thread, once the request is recorded.
    public init(_ answer: @escaping @Sendable (Request) -> Answer = { _ in .status(204) }) throws(Failure) {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw Failure(step: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 512) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure(step: "bind") }
        port = UInt16(bigEndian: address.sin_port)
        let state = Lock(State())
        self.state = state
        let requests = self.requests
        let isStarted = startThread(name: "receiver") {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    state.withLock { state in
                        state.isListening = false
                        close(listener)
                    }
                    return
                }
                let number = state.withLock { state in
                    state.open.insert(descriptor)
                    state.connections += 1
                    return state.connections - 1
                }
                let hasStarted = startThread(name: "connection") {
                    Connection(descriptor: descriptor, number: number).serve(requests, answer)
                    state.withLock { state in
                        state.open.remove(descriptor)
                        close(descriptor)
                    }
                }
                if !hasStarted { close(descriptor) }
            }
        }
        guard isStarted else { throw Failure(step: "thread") }
    }

    deinit { shutDown() }

    /// Connections accepted so far.
    public var connectionCount: Int { state.withLock { $0.connections } }

    public func url(_ path: String = "/hook") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Closes the port and every connection. Idempotent.
    public func shutDown() {
        state.withLock { state in
            guard !state.isShutDown else { return }
            state.isShutDown = true
            // Ends `accept`. The accepting thread closes the descriptor: closed here, its number could be somebody else's
            // by the time that thread uses it again, as it could be here once that thread has closed it.
            if state.isListening { shutdown(listener, Int32(SHUT_RDWR)) }
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
