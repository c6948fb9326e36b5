import CLinux
import Glibc
import JSON

/// The address of the measured server.
struct Target {
    /// The value of the `Host` header.
    let authority: String
    private let address: [UInt8]
    private let family: Int32

    init(_ url: String) throws(BenchFailure) {
        guard url.hasPrefix("http://") else { throw BenchFailure("the URL must begin with http://") }
        let rest = url.dropFirst(7).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard rest.count == 1 || rest[1].isEmpty else {
            throw BenchFailure("the URL must have no path; pass paths with --stream-path and --publish-path")
        }
        authority = String(rest[0])
        let (host, port) = Self.parts(of: rest[0])
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &found) == 0, let first = found else {
            throw BenchFailure("the host name '\(host)' cannot be resolved")
        }
        defer { freeaddrinfo(first) }
        family = first.pointee.ai_family
        address = Array(UnsafeRawBufferPointer(start: first.pointee.ai_addr, count: Int(first.pointee.ai_addrlen)))
    }

    private static func parts(of authority: Substring) -> (host: String, port: String) {
        let host: Substring
        let rest: Substring
        if authority.first == "[", let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
        } else {
            let colon = authority.firstIndex(of: ":") ?? authority.endIndex
            (host, rest) = (authority[..<colon], authority[colon...])
        }
        return (String(host), rest.isEmpty ? "80" : String(rest.dropFirst()))
    }

    /// Returns a socket that is being connected; a negative number when the system has none available.
    func connect() -> Int32 {
        let flags = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(family, Int32(flags), 0)
        guard descriptor >= 0 else { return -1 }
        Sockets.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        let code = address.withUnsafeBytes { bytes in
            // The bytes are a sockaddr from getaddrinfo.
            Glibc.connect(descriptor, bytes.bindMemory(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard code == 0 || errno == EINPROGRESS else {
            close(descriptor)
            return -1
        }
        return descriptor
    }
}

/// Socket calls that Swift does not offer in a simple form.
enum Sockets {
    /// The value of `MSG_NOSIGNAL`: no SIGPIPE on a closed connection.
    static let quietly: Int32 = 0x4000

    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns true when the socket was connected successfully.
    static func isFine(_ descriptor: Int32) -> Bool {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 && code == 0
    }

    /// Closes a connection immediately, without the state TIME_WAIT, which would occupy ports in the next run.
    static func cut(_ descriptor: Int32) {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    /// Sends all bytes, and waits while the socket's buffer is full, which is rare for small requests. Returns false
    /// when the connection has failed, or when the buffer stays full for ten seconds.
    static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = Glibc.send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, quietly)
            if count > 0 {
                sent += count
            } else if errno == EAGAIN || errno == EINPROGRESS || errno == ENOTCONN {
                guard wait(for: POLLOUT, on: descriptor, milliseconds: 10_000) else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    static func wait(for events: Int32, on descriptor: Int32, milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&waiting, 1, milliseconds) == 1
    }

    /// Raises the descriptor limit of this process to `wanted`, if the system permits it.
    static func raiseLimit(to wanted: Int) throws(BenchFailure) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard descriptorLimit >= wanted else {
            throw BenchFailure(
                "\(wanted) file descriptors are needed, but the limit is \(descriptorLimit); raise it with ulimit -n")
        }
    }

    /// The highest descriptor limit that the system permits for this process.
    static var descriptorLimit: Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }
}

/// Administrative requests of a measurement. They are sent one after the other, each on a new connection.
struct ControlRequests {
    let target: Target
    let key: String?

    private static let timeoutMilliseconds: Int32 = 30_000

    func send(_ method: String, _ path: String, _ body: [UInt8]?) throws(BenchFailure) -> (status: Int, body: [UInt8]) {
        let descriptor = target.connect()
        guard descriptor >= 0 else { throw BenchFailure("\(target.authority) does not accept connections") }
        defer { close(descriptor) }
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(target.authority)\r\nConnection: close\r\n"
        if let key { head += "Authorization: Bearer \(key)\r\n" }
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        let request = Array("\(head)\r\n".utf8) + (body ?? [])
        guard request.withUnsafeBytes({ Sockets.send($0, to: descriptor) }) else {
            throw BenchFailure("\(target.authority) does not accept requests")
        }
        return try answer(on: descriptor)
    }

    private func answer(on descriptor: Int32) throws(BenchFailure) -> (status: Int, body: [UInt8]) {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1_024)
        while Sockets.wait(for: POLLIN, on: descriptor, milliseconds: Self.timeoutMilliseconds) {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count > 0 { bytes += piece.prefix(count) }
            let found = bytes.withUnsafeBytes { bytes -> (status: Int, body: [UInt8])? in
                guard let head = MessageHead(bytes), let end = head.end(in: bytes) else { return nil }
                return (head.status, Array(bytes[head.length..<end]))
            }
            if let found { return found }
            guard count > 0 else { break }
        }
        throw BenchFailure("\(target.authority) did not respond")
    }
}

// MARK: - Webhooks

extension ControlRequests {
    /// Creates a webhook that receives the events of one channel.
    ///
    /// - Returns: the webhook's id.
    func createWebhook(url: String, channel: String) throws(BenchFailure) -> String {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("url", url)
            writer.key("channels")
            writer.beginArray()
            writer.string(channel)
            writer.endArray()
            writer.endObject()
        }
        let answer = try send("POST", "/v1/webhooks", body.bytes)
        // A body that is not JSON contains no id.
        guard answer.status == 201, let document = try? JSONDocument(answer.body), let id = document.root["id"]?.string
        else {
            throw BenchFailure("a webhook could not be registered; the server responded with \(answer.status)")
        }
        return id
    }

    /// Deletes webhooks. A gateway that has ended does not respond; the run has then failed and reports the reason.
    func deleteWebhooks(_ ids: [String]) {
        for id in ids { _ = try? send("DELETE", "/v1/webhooks/\(id)", nil) }
    }
}
