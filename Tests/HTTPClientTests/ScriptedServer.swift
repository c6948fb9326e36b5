import Glibc
import HTTPClient
import Locking
import Testing

/// A TCP server on a port of its own whose every connection runs a script on a thread of its own: what real servers do,
/// and what they should not.
final class ScriptedServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private struct State {
        var accepted = 0
        var isListening = true
    }

    private let state = Lock(State())

    /// Connections accepted so far.
    var accepted: Int { state.withLock { $0.accepted } }

    init(_ script: @escaping @Sendable (Peer) -> Void) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 512) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(bound)
        let state = self.state
        try #require(
            startThread(name: "scripted") {
                while true {
                    let descriptor = accept(listener, nil, nil)
                    guard descriptor >= 0 else { break }
                    state.withLock { $0.accepted += 1 }
                    let hasStarted = startThread(name: "peer") {
                        script(Peer(descriptor))
                        close(descriptor)
                    }
                    if !hasStarted { close(descriptor) }
                }
                // Here and not at the end of the server: a number given back too early could be another server's
                // listener by the time this thread accepts from it.
                state.withLock { state in
                    state.isListening = false
                    close(listener)
                }
            })
    }

    /// Ends `accept`, now and when it is called next. If that has ended of itself, the number may be somebody else's.
    deinit {
        state.withLock { state in
            if state.isListening { shutdown(listener, Int32(SHUT_RDWR)) }
        }
    }

    func url(_ path: String = "/", scheme: String = "http", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    /// Answers every request of a connection, each with what `answer` says.
    convenience init(answering answer: @escaping @Sendable (ReceivedRequest) -> String) throws {
        try self.init { peer in
            while let request = peer.readRequest() {
                guard peer.write(answer(request)) else { return }
            }
        }
    }
}

/// The server's end of one connection. Reads wait a minute at most.
struct Peer: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    /// What comes next, `nil` when the client has gone or nothing comes.
    func read(most: Int = 65536) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: min(most, 65536))
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    /// The next request with its body.
    func readRequest() -> ReceivedRequest? {
        var bytes: [UInt8] = []
        while true {
            guard let more = read() else { return nil }
            bytes += more
            guard let head = ReceivedRequest(head: bytes) else { continue }
            while bytes.count < head.size + head.contentLength {
                guard let more = read() else { return nil }
                bytes += more
            }
            return head.with(body: Array(bytes[head.size...]))
        }
    }

    /// Waits until the client closes.
    func waitForEnd() { while read() != nil {} }

    /// Waits until the client closes and reads nothing meanwhile.
    func waitForEndUnread() {
        var interest = pollfd(fd: descriptor, events: 0x2000 /* POLLRDHUP */, revents: 0)
        _ = poll(&interest, 1, 60_000)
    }

    /// Whether everything went out.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends what the socket takes; `nil` when it takes nothing for a fifth of a second.
    func offer(_ bytes: [UInt8]) -> Int? {
        var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&interest, 1, 200) > 0 else { return nil }
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress!, $0.count, flags) }
        return count > 0 ? count : nil
    }

    /// Whether the client closes, or sends something, within the time.
    func hears(withinMilliseconds time: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&interest, 1, time) > 0
    }

    /// Closes with a reset in place of an orderly end.
    func reset() {
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    }
}

/// A request as it stood on the wire.
struct ReceivedRequest: Sendable {
    let line: String
    let headers: [(name: String, value: String)]
    private(set) var body: [UInt8] = []
    /// Bytes up to and with the empty line.
    let size: Int

    /// `nil` until the empty line is there.
    init?(head bytes: [UInt8]) {
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: "\r\n\r\n".utf8) }) else { return nil }
        size = end + 4
        var lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        line = String(lines.removeFirst())
        headers = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
    }

    var contentLength: Int { values("content-length").first.flatMap { Int($0) } ?? 0 }

    func with(body: [UInt8]) -> ReceivedRequest {
        var request = self
        request.body = body
        return request
    }

    func values(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/// Options that let a client reach the servers here.
func testOptions(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
    var options = ClientOptions(addressGuard: AddressGuard(allowing: [AddressBlock("127.0.0.0/8")!]))
    change(&options)
    return options
}

/// Runs a test with a client and shuts it down after.
func withClient<Result>(
    _ options: ClientOptions = testOptions(), _ body: (Client) async throws -> Result
) async throws -> Result {
    let client = try Client(options: options)
    do {
        let result = try await body(client)
        await client.shutdown()
        return result
    } catch {
        await client.shutdown()
        throw error
    }
}
