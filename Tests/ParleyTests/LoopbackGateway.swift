import Glibc
import Locking

/// A gateway's HTTP side for tests: a real socket on loopback, answers decided by the test.
final class LoopbackGateway: Sendable {
    struct Request: Sendable {
        var method = ""
        /// Path and query as sent.
        var target = ""
        var headers: [String: String] = [:]
        var body: [UInt8] = []

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    enum Reply: Sendable {
        case answer(Int, String, headers: [(String, String)] = [])
        /// The connection is closed without a word.
        case cut
        /// A chunked body of these parts; then the connection is closed, or held until the client goes.
        case stream([String], isHeld: Bool = false)
    }

    private let descriptor: Int32
    let port: UInt16
    private let seen = Lock<[Request]>([])
    private let handle: @Sendable (Request, Int) -> Reply

    /// - Parameter handle: gets each request and how many came before it.
    init(_ handle: @escaping @Sendable (Request, Int) -> Reply) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isReady else { throw SocketError(code: errno) }
        self.descriptor = descriptor
        self.handle = handle
        port = UInt16(bigEndian: address.sin_port)
        let isStarted = startThread(name: "gateway") { [weak self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                let isServed = startThread(name: "exchange") { [weak self] in
                    self?.serve(connection)
                    close(connection)
                }
                if !isServed { close(connection) }
            }
        }
        guard isStarted else { throw SocketError(code: EAGAIN) }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { seen.withLock { $0 } }

    private func serve(_ connection: Int32) {
        guard let request = Self.read(connection) else { return }
        let before = seen.withLock { seen in
            seen.append(request)
            return seen.count - 1
        }
        switch handle(request, before) {
        case .cut: return
        case .answer(let status, let body, let headers):
            var head = "HTTP/1.1 \(status) Status\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            Self.send(head + "\r\n" + body, to: connection)
        case .stream(let parts, let isHeld):
            Self.send("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n", to: connection)
            for part in parts {
                Self.send("\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n", to: connection)
            }
            if isHeld {
                var byte: UInt8 = 0
                while recv(connection, &byte, 1, 0) > 0 {}
            } else {
                Self.send("0\r\n\r\n", to: connection)
            }
        }
        shutdown(connection, Int32(SHUT_WR))
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) > 0 {}
    }

    private static func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        func more() -> Bool {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count > 0 { bytes += buffer[..<count] }
            return count > 0
        }
        while bytes.firstRange(of: Array("\r\n\r\n".utf8)) == nil { guard more() else { return nil } }
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        var request = Request(method: String(words[0]), target: String(words[1]))
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            request.headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
        while bytes.count < end.upperBound + length { guard more() else { return nil } }
        request.body = Array(bytes[end.upperBound..<end.upperBound + length])
        return request
    }

    private static func send(_ text: String, to connection: Int32) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    struct SocketError: Error { let code: Int32 }
}
