import Glibc
import Locking

/// The server's end of one connection, for the thread that serves it. Reads and writes wait a minute at most.
public final class ServerConnection: Sendable {
    private let descriptor: Int32
    private let number: Int
    private let requests: Observed<[ReceivedRequest]>
    /// What came behind a request.
    private let rest = Lock<[UInt8]>([])

    init(_ descriptor: Int32, number: Int, requests: Observed<[ReceivedRequest]>) {
        (self.descriptor, self.number, self.requests) = (descriptor, number, requests)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// The next bytes; nil when the client has gone or nothing comes.
    public func read(most: Int = 65_536) -> [UInt8]? {
        let kept = rest.withLock { rest in
            defer { rest.removeFirst(min(most, rest.count)) }
            return Array(rest.prefix(most))
        }
        if !kept.isEmpty { return kept }
        var buffer = [UInt8](repeating: 0, count: min(most, 65_536))
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    /// The next request with its body, which the server then has among its requests.
    public func readRequest() -> ReceivedRequest? {
        var bytes: [UInt8] = []
        while true {
            guard let more = read() else { return nil }
            bytes += more
            guard let head = ReceivedRequest(head: bytes, connection: number) else { continue }
            let end = head.headLength + head.contentLength
            while bytes.count < end {
                guard let more = read() else { return nil }
                bytes += more
            }
            let surplus = Array(bytes[end...])
            rest.withLock { $0 = surplus + $0 }
            let request = head.with(body: Array(bytes[head.headLength..<end]))
            return requests.update { requests in
                var request = request
                request.number = requests.count
                requests.append(request)
                return request
            }
        }
    }

    /// Waits until the client closes.
    public func waitForEnd() { while read() != nil {} }

    /// Waits until the client closes and reads nothing meanwhile.
    public func waitForEndUnread() {
        var interest = pollfd(fd: descriptor, events: 0x2000 /* POLLRDHUP */, revents: 0)
        _ = poll(&interest, 1, 60_000)
    }

    /// Whether everything went out.
    @discardableResult
    public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends what the socket takes; nil when it takes nothing for a fifth of a second.
    public func offer(_ bytes: [UInt8]) -> Int? {
        var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&interest, 1, 200) > 0 else { return nil }
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress!, $0.count, flags) }
        return count > 0 ? count : nil
    }

    /// Whether the client closes, or sends something, within the time.
    public func hears(withinMilliseconds time: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&interest, 1, time) > 0
    }

    /// Ends the connection for both sides, also from another thread while this one reads.
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Has the connection closed by a reset in place of an orderly end.
    public func reset() {
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    }
}
