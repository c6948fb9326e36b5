import CLinux
import Glibc

/// Requests about the setting of a measurement, one after the other, each on a connection of its own.
struct ControlRequests {
    let target: Target
    let key: String?

    private static let patienceMilliseconds: Int32 = 30_000

    func send(_ method: String, _ path: String, _ body: [UInt8]?) throws(BenchFailure) -> (status: Int, body: [UInt8]) {
        let descriptor = target.connect()
        guard descriptor >= 0 else { throw BenchFailure("\(target.authority) takes no connection") }
        defer { close(descriptor) }
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(target.authority)\r\nConnection: close\r\n"
        if let key { head += "Authorization: Bearer \(key)\r\n" }
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        let request = Array("\(head)\r\n".utf8) + (body ?? [])
        guard request.withUnsafeBytes({ Sockets.send($0, to: descriptor) }) else {
            throw BenchFailure("\(target.authority) takes no request")
        }
        return try answer(on: descriptor)
    }

    private func answer(on descriptor: Int32) throws(BenchFailure) -> (status: Int, body: [UInt8]) {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1_024)
        while Sockets.wait(for: POLLIN, on: descriptor, milliseconds: Self.patienceMilliseconds) {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count > 0 { bytes += piece.prefix(count) }
            let found = bytes.withUnsafeBytes { bytes -> (status: Int, body: [UInt8])? in
                guard let head = MessageHead(bytes), let end = head.end(in: bytes) else { return nil }
                return (head.status, Array(bytes[head.length..<end]))
            }
            if let found { return found }
            guard count > 0 else { break }
        }
        throw BenchFailure("\(target.authority) gave no answer")
    }
}
