import CLinux
import Glibc
import Locking

/// A server on loopback that receives the posts of webhooks, responds with 200, and reports the posts to the ledger.
///
/// The path of a post ends with the number of the webhook.
final class Receiver {
    let port: UInt16
    /// The number of received requests, including repeated ones.
    private(set) var posts = 0

    private unowned let driver: Driver
    private let listener: Int32
    private var unfinished: [Int32: [UInt8]] = [:]
    private static let bufferBytes = 256 * 1024
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: bufferBytes, alignment: 16)
    private static let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)

    init(driver: Driver) throws(BenchFailure) {
        self.driver = driver
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            // A sockaddr_in may be used as a sockaddr.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 4_096) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw BenchFailure("the receiver cannot listen on a port: errno \(errno)") }
        driver.watch(listener, tag: UInt64(listener))
    }

    deinit {
        for descriptor in unfinished.keys { Sockets.cut(descriptor) }
        close(listener)
        buffer.deallocate()
    }

    /// Handles a descriptor of the receiver that is ready.
    func serve(_ descriptor: Int32) {
        if descriptor == listener { return accept() }
        guard unfinished[descriptor] != nil else { return }
        let count = recv(descriptor, buffer, Self.bufferBytes, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { end(descriptor) }
            return
        }
        let piece = UnsafeRawBufferPointer(start: buffer, count: count)
        if unfinished[descriptor]?.isEmpty == true {
            let taken = parse(piece, descriptor)
            if taken < count { unfinished[descriptor] = Array(piece[taken...]) }
        } else if var whole = unfinished.updateValue([], forKey: descriptor) {
            whole += piece
            let taken = whole.withUnsafeBytes { parse($0, descriptor) }
            unfinished[descriptor] = Array(whole[taken...])
        }
    }

    private func accept() {
        while true {
            let descriptor = shim_accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            Sockets.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
            unfinished[descriptor] = []
            driver.watch(descriptor, tag: UInt64(descriptor))
        }
    }

    private func end(_ descriptor: Int32) {
        unfinished[descriptor] = nil
        close(descriptor)
    }

    /// Handles the complete requests in the received bytes.
    ///
    /// - Returns: the number of bytes of the complete requests.
    private func parse(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Int {
        var taken = 0
        while taken < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
            guard let head = MessageHead(rest), let end = head.end(in: rest) else { return taken }
            record(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            taken += end
            guard Self.answer.withUnsafeBytes({ Sockets.send($0, to: descriptor) }) else { return bytes.count }
        }
        return taken
    }

    private func record(_ request: UnsafeRawBufferPointer) {
        posts += 1
        let path = request.drop { $0 != 0x20 }.dropFirst().prefix { $0 != 0x20 }
        let digits = path.reversed().prefix { (0x30...0x39).contains($0) }
        var (webhook, place) = (0, 1)
        for digit in digits {
            webhook += place * Int(digit - 0x30)
            place *= 10
        }
        guard webhook < driver.plan.webhooks, let base = request.baseAddress else { return }
        let now = MonotonicTime.now.nanoseconds
        var position = 0
        while let found = memchr(base + position, Int32(PayloadMark.sign), request.count - position),
            base + request.count - UnsafeRawPointer(found) >= PayloadMark.length
        {
            if let mark = PayloadMark(at: found) {
                _ = driver.ledger.record(mark, reader: webhook, channel: 0, at: now)
            }
            position = UnsafeRawPointer(found) - base + PayloadMark.length
        }
    }
}
