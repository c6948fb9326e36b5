import Glibc
import Locking
import TestSupport

/// One accepted connection, on its own thread.
struct Connection {
    let descriptor: Int32
    let number: Int

    func serve(_ requests: Observed<[Receiver.Request]>, _ answer: (Receiver.Request) -> Receiver.Answer) {
        var pending: [UInt8] = []
        while let request = readRequest(&pending) {
            requests.append(request)
            guard give(answer(request)) else { return }
        }
    }

    /// False when the connection is over.
    private func give(_ answer: Receiver.Answer) -> Bool {
        switch answer {
        case .status(let status, let headers, let body):
            var text = "HTTP/1.1 \(status) Status\r\ncontent-length: \(body.count)\r\n"
            for header in headers { text += "\(header.name): \(header.value)\r\n" }
            return write(Array((text + "\r\n").utf8) + (status == 204 ? [] : body))
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            return false
        case .raw(let bytes):
            _ = write(bytes)
            return false
        case .held(let gate, let next):
            gate.passBlocking()
            return give(next)
        }
    }

    private func readRequest(_ pending: inout [UInt8]) -> Receiver.Request? {
        while true {
            if let end = Self.headEnd(pending) {
                let lines = String(decoding: pending[..<end], as: UTF8.self).split(separator: "\r\n")
                let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
                    guard let colon = line.firstIndex(of: ":") else { return nil }
                    let value = line[line.index(after: colon)...].drop { $0 == " " }
                    return (line[..<colon].lowercased(), String(value))
                }
                let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
                if pending.count >= end + 4 + length {
                    let words = lines.first?.split(separator: " ") ?? []
                    guard words.count == 3 else { return nil }
                    let body = Array(pending[(end + 4)..<(end + 4 + length)])
                    pending.removeFirst(end + 4 + length)
                    return Receiver.Request(
                        method: String(words[0]), path: String(words[1]), headers: headers, body: body,
                        connection: number)
                }
            }
            guard let more = read(), pending.count < 4 * 1024 * 1024 else { return nil }
            pending += more
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                send(descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
