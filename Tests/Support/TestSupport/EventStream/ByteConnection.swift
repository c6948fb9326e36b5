import Glibc
import Locking

/// A TCP connection to a port of this machine, whose bytes arrive as an asynchronous sequence of pieces.
///
/// A dedicated thread reads, so that no thread of the cooperative pool ever blocks.
public final class ByteConnection: Sendable {
    public struct Failure: Error { public let call: String, code: Int32 }

    private struct State {
        var pieces: [[UInt8]] = []
        var isAtEnd = false
        var isPaused = false
        var reader: CheckedContinuation<Void, Never>?
    }

    private let descriptor: Int32
    private let state = Monitor(State())

    /// - Parameter receiveBuffer: the size of the kernel's receive buffer in bytes, for a client that does not read.
    public init(port: UInt16, receiveBuffer: Int32? = nil) throws(Failure) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            let failure = Failure(call: "connect", code: errno)
            Glibc.close(descriptor)
            throw failure
        }
        let started = startThread(name: "client") { [descriptor, state] in Self.read(descriptor, into: state) }
        precondition(started)
    }

    deinit { close() }

    private static func read(_ descriptor: Int32, into state: Monitor<State>) {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            state.wait { $0.isPaused && !$0.isAtEnd ? .sleep : .done(()) }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            let reader = state.withLock { state in
                if count > 0 { state.pieces.append(Array(buffer[..<count])) } else { state.isAtEnd = true }
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
            if count <= 0 { break }
        }
        Glibc.close(descriptor)
    }

    /// Writes all bytes. For requests, which fit into the socket's buffer.
    public func send(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(call: "send", code: errno) }
            sent += count
        }
    }

    /// Returns the next bytes, or nil at the end, whichever side closed. One reader at a time.
    public func next() async -> [UInt8]? {
        while true {
            let (bytes, isAtEnd) = state.withLock { state in
                defer { state.pieces = [] }
                return (state.pieces.flatMap(\.self), state.isAtEnd)
            }
            if !bytes.isEmpty { return bytes }
            if isAtEnd { return nil }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.pieces.isEmpty || state.isAtEnd { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    /// Stops reading, so that the sender's buffer fills. A system call that is already waiting still returns its bytes.
    public func pause() { state.withLock { $0.isPaused = true } }

    public func resume() {
        state.withLock { $0.isPaused = false }
        state.wakeAll()
    }

    /// Ends the connection in both directions.
    public func close() {
        // The reading thread closes the descriptor, so it stays valid until that thread has seen the end.
        state.withLock { state in
            guard !state.isAtEnd else { return }
            shutdown(descriptor, Int32(SHUT_RDWR))
            state.isPaused = false
        }
        state.wakeAll()
    }
}
