import Locking
import TestSupport

/// A server that forwards every event to every stream of its channel, correctly or with a chosen fault.
final class SmallServer: Sendable {
    enum Fault: Sendable {
        case none, loses, repeats, swaps
        /// Cuts a stream after some events, in the middle of a frame, and continues from the id it comes back with.
        case cuts
    }

    private let server: ScriptedServer

    init(_ fault: Fault) throws {
        let channel = Lock(Channel(fault: fault))
        server = try .perConnection { connection in
            while let request = connection.readRequest() {
                if request.method == "GET" {
                    channel.withLock { $0.open(connection, after: request["last-event-id"].flatMap { Int($0) }) }
                    connection.waitForEnd()
                    channel.withLock { channel in channel.streams.removeAll { $0 === connection } }
                } else {
                    connection.write("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")
                    channel.withLock { $0.publish(request.text) }
                }
            }
        }
    }

    var url: String { server.baseURL }
}

private struct Channel: Sendable {
    let fault: SmallServer.Fault
    var streams: [ServerConnection] = []
    private var held: [UInt8]?
    private var history: [[UInt8]] = []

    init(fault: SmallServer.Fault) { self.fault = fault }

    mutating func open(_ connection: ServerConnection, after id: Int?) {
        streams.append(connection)
        connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        guard let id else { return }
        for frame in history[(id + 1)...] { connection.write(frame) }
    }

    mutating func publish(_ body: String) {
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
            for stream in streams { stream.end() }
            streams = []
        default: send(frame)
        }
    }

    private func send(_ frame: [UInt8]) {
        for stream in streams { stream.write(frame) }
    }
}
