import Glibc
import Locking

/// The server's end of one connection, for the thread that serves it. Reads and writes time out after one minute.
public final class ServerConnection: Sendable {
    private let descriptor: Int32
    private let number: Int
    private let requests: Observed<[ReceivedRequest]>
    /// The bytes that arrived after a request.
    private let rest = Lock<[UInt8]>([])

    init(_ descriptor: Int32, number: Int, requests: Observed<[ReceivedRequest]>) {
        (self.descriptor, self.number, self.requests) = (descriptor, number, requests)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Returns the next bytes, or nil when the client has gone or the read times out.
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

    /// Reads the next request with its body and records it in the server's requests.
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

    /// Waits until the client closes, without reading.
    public func waitForEndUnread() {
        var interest = pollfd(fd: descriptor, events: 0x2000 /* POLLRDHUP */, revents: 0)
        _ = poll(&interest, 1, 60_000)
    }

    /// Sends all bytes. Returns false when that failed.
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

    /// Sends as many bytes as the socket accepts. Returns nil when it accepts none for 200 ms.
    public func offer(_ bytes: [UInt8]) -> Int? {
        var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&interest, 1, 200) > 0 else { return nil }
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress!, $0.count, flags) }
        return count > 0 ? count : nil
    }

    /// Returns true when the client closes or sends something within the time.
    public func hears(withinMilliseconds time: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&interest, 1, time) > 0
    }

    /// Ends the connection in both directions. May be called from another thread while this one reads.
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Closes the connection with a reset instead of an orderly end.
    public func reset() {
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    }
}
