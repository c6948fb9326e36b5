import Glibc
import Locking

/// A server of one thread that forwards every event to every stream of its channel, rightly or with a fault.
final class SmallServer: Sendable {
    enum Fault: Sendable {
        case none, loses, repeats, swaps
        /// Cuts a stream after some events, in the middle of a frame, and continues from the id it comes back with.
        case cuts
    }

    let port: UInt16
    private let listener: Int32

    init(_ fault: Fault) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = listen(listener, 100)
                _ = getsockname(listener, $0, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        _ = startThread(name: "small-server") {
            var house = Serving(listener: listener, fault: fault)
            house.run()
        }
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Ends the thread, which closes everything.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

private struct Serving {
    let listener: Int32
    let fault: SmallServer.Fault
    private var streams: [Int32] = []
    private var others: [Int32] = []
    private var held: [UInt8]?
    private var history: [[UInt8]] = []

    init(listener: Int32, fault: SmallServer.Fault) {
        (self.listener, self.fault) = (listener, fault)
    }

    mutating func run() {
        while true {
            var waiting = ([listener] + streams + others).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&waiting, nfds_t(waiting.count), -1) > 0 else { continue }
            if waiting[0].revents & Int16(POLLHUP) != 0 { break }
            if waiting[0].revents != 0 { others.append(accept(listener, nil, nil)) }
            for ready in waiting.dropFirst() where ready.revents != 0 { serve(ready.fd) }
        }
        for descriptor in [listener] + streams + others { close(descriptor) }
    }

    private mutating func serve(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else {
            streams.removeAll { $0 == descriptor }
            others.removeAll { $0 == descriptor }
            close(descriptor)
            return
        }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        if text.hasPrefix("GET") {
            open(descriptor, text)
        } else if let body = text.split(separator: "\r\n").last {
            write("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", to: descriptor)
            publish(String(body))
        }
    }

    private mutating func open(_ descriptor: Int32, _ request: String) {
        others.removeAll { $0 == descriptor }
        streams.append(descriptor)
        write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", to: descriptor)
        let line = request.split(separator: "\r\n").first { $0.hasPrefix("Last-Event-ID: ") }
        guard let id = line.flatMap({ Int($0.dropFirst(15)) }) else { return }
        for frame in history[(id + 1)...] { write(frame, to: descriptor) }
    }

    private mutating func publish(_ body: String) {
        let number = history.count
        let frame = Array("id: \(number)\ndata: \(body)\n\n".utf8)
        history.append(frame)
        switch fault {
        case .loses where number == 3: return
        case .repeats where number == 3: send(frame + frame)
        case .swaps where number == 3: held = frame
        case .swaps where number == 4: send(frame + (held ?? []))
        case .cuts where number % 5 == 3:
            send(frame + Array(frame.prefix(frame.count - 1)))
            for descriptor in streams { close(descriptor) }
            streams = []
        default: send(frame)
        }
    }

    private func send(_ frame: [UInt8]) {
        for descriptor in streams { write(frame, to: descriptor) }
    }

    private func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }

    private func write(_ bytes: [UInt8], to descriptor: Int32) {
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
