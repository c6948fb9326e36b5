import Glibc
import Locking

/// A client that sends exactly the given bytes over a real socket. Every wait ends after five seconds.
final class Wire: @unchecked Sendable {
    // Safe to share: one test uses it at a time.

    enum Failure: Error {
        case connect(Int32)
        case timedOut(got: String)
        case closed(got: String)
        case unreadable(String)
    }

    struct Answer {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isClosed = false

    /// - Parameters:
    ///   - receiveBuffer: A small value makes the reader easily too slow.
    ///   - segment: the maximum size of a TCP segment. With a small value, fewer bytes fit in the server's buffer.
    init(port: UInt16, receiveBuffer: Int32? = nil, segment: Int32? = nil, seconds: Int = 5) throws {
        // Not inherited by programs of other tests, which would keep the connection open.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | 0o2000000 /* SOCK_CLOEXEC */, 0)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        if var segment {
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafeBytes(of: &address) {
            Glibc.connect(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard code == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw Failure.connect(code)
        }
    }

    /// Takes over a connected descriptor.
    init(descriptor: Int32, seconds: Int = 5) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        Glibc.close(descriptor)
    }

    /// Closes the sending direction; reading continues.
    func closeWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes with a reset instead of an orderly shutdown.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func limitSending(milliseconds: Int) {
        var limit = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Returns the number of bytes that were accepted before the other side closed or stopped reading.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Int {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, 0x4000 /* MSG_NOSIGNAL */)
            }
            guard count > 0 else { return sent }
            sent += count
        }
        return sent
    }

    @discardableResult
    func send(_ text: String) -> Int { send(text.utf8) }

    /// A request with a `Host` field.
    func request(
        _ method: String, _ target: String, _ headers: [String] = [], body: [UInt8] = [], version: String = "1.1"
    ) {
        var lines = ["\(method) \(target) HTTP/\(version)", "Host: test"] + headers
        if !body.isEmpty { lines.append("Content-Length: \(body.count)") }
        send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    }

    /// Sends a request and reads the response.
    func ask(_ method: String, _ target: String, _ headers: [String] = [], body: [UInt8] = []) throws -> Answer {
        request(method, target, headers, body: body)
        return try answer(isHead: method == "HEAD")
    }

    /// Reads one response, with a body of the length that its header declares.
    func answer(isHead: Bool = false) throws -> Answer {
        var answer = try head()
        if isHead || answer.status == 204 || answer.status == 304 || answer.status < 200 { return answer }
        if answer["Transfer-Encoding"]?.lowercased() == "chunked" {
            answer.body = try chunks()
        } else if let length = answer["Content-Length"].flatMap({ Int($0) }) {
            answer.body = try take(length)
        } else {
            answer.body = try rest()
        }
        return answer
    }

    /// Reads the header of a response and leaves the rest.
    func head() throws -> Answer {
        let text = String(decoding: try read(through: "\r\n\r\n"), as: UTF8.self)
        let lines = text.split(separator: "\r\n")
        let parts = lines.first?.split(separator: " ", maxSplits: 2) ?? []
        guard parts.count >= 2, let status = Int(parts[1]) else { throw Failure.unreadable(text) }
        let headers = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            return (
                name: String(line[..<colon]),
                value: String(line[colon...].dropFirst().drop { $0 == " " })
            )
        }
        return Answer(status: status, headers: headers, body: [])
    }

    private func chunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while let chunk = try chunk() { body += chunk }
        return body
    }

    /// The next chunk of a chunked body; nil for the chunk that ends it.
    func chunk() throws -> [UInt8]? {
        let line = String(decoding: try read(through: "\r\n").dropLast(2), as: UTF8.self)
        guard let size = Int(line, radix: 16) else { throw Failure.unreadable(line) }
        let data = try take(size)
        let end = try take(2)
        guard end == [0x0D, 0x0A] else { throw Failure.unreadable(String(decoding: end, as: UTF8.self)) }
        return size == 0 ? nil : data
    }

    /// Reads until `mark` has been seen, and returns everything up to its end.
    func read(through mark: String) throws -> [UInt8] {
        let mark = Array(mark.utf8)
        var searched = 0
        while true {
            if let end = find(mark, from: searched) {
                let found = Array(buffer[..<end])
                buffer.removeFirst(end)
                return found
            }
            searched = max(0, buffer.count - mark.count + 1)
            guard try fill() else { throw Failure.closed(got: String(decoding: buffer, as: UTF8.self)) }
        }
    }

    private func find(_ mark: [UInt8], from start: Int) -> Int? {
        guard buffer.count >= mark.count, start <= buffer.count - mark.count else { return nil }
        for index in start...(buffer.count - mark.count) where buffer[index..<index + mark.count].elementsEqual(mark) {
            return index + mark.count
        }
        return nil
    }

    func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else { throw Failure.closed(got: String(decoding: buffer, as: UTF8.self)) }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// Reads everything until the other side closes.
    func rest() throws -> [UInt8] {
        while try fill() {}
        defer { buffer = [] }
        return buffer
    }

    /// Reads more bytes. False when the other side has closed, in any way.
    private func fill() throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &piece, piece.count, 0)
        if count > 0 {
            buffer.append(contentsOf: piece[..<count])
            return true
        }
        if count < 0, errno == EAGAIN { throw Failure.timedOut(got: String(decoding: buffer, as: UTF8.self)) }
        return false
    }
}

/// Runs blocking code on its own thread, so that waiting tests do not occupy the threads of the pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let hasStarted = startThread(name: "wire") { continuation.resume(with: Result { try body() }) }
        precondition(hasStarted, "no thread")
    }
}
