import ChatModel
import HTTPServer
import JSON

/// How a stream is written: the same blocks with the same cursors in either way.
enum StreamFormat: Hashable, Sendable, CaseIterable {
    /// Server-Sent Events (WHATWG HTML, 9.2).
    case eventStream
    /// One JSON value a line.
    case lines

    /// How it is called in lists of streams.
    var name: String {
        switch self {
        case .eventStream: "sse"
        case .lines: "ndjson"
        }
    }

    var headers: [(name: String, value: String)] {
        switch self {
        case .eventStream:
            StreamOpening.eventStreamHeaders
        case .lines:
            [
                ("Content-Type", "application/x-ndjson"), ("Cache-Control", "no-cache, no-transform"),
                ("X-Accel-Buffering", "no"),
            ]
        }
    }
}

// MARK: - Blocks

extension StreamFormat {
    /// An event of the log. Its cursor is its timetoken, which is also the id of the block, unless that must not move the
    /// client's cursor.
    ///
    /// - Parameter included: the objects beside the event; nil for a reader that has not asked for any.
    func frame(_ event: Event, with included: JSONText? = nil, hasID: Bool = true) -> [UInt8] {
        let text = JSONText(capacity: event.draft.weight + 160 + (included?.count ?? 0)) { writer in
            event.printEnvelope(to: &writer, included: included)
        }
        let envelope = text.onOneLine().bytes
        switch self {
        case .eventStream:
            let id = hasID ? event.timetoken.description : nil
            return Self.block(ServerSentEvent(id: id, event: event.type, data: envelope))
        case .lines:
            return envelope + [0x0A]
        }
    }

    /// A block that is no event of the log. It has an id where it says where the stream starts; others move no client.
    func control(_ block: ControlMessage) -> [UInt8] {
        switch self {
        case .eventStream:
            return Self.block(
                ServerSentEvent(
                    id: block.id?.description, event: block.name, data: block.data.bytes,
                    retryMilliseconds: block.retryMilliseconds))
        case .lines:
            var writer = JSONWriter(capacity: block.data.count + 48)
            writer.beginObject()
            writer.member("event", block.name)
            writer.member("data", block.data)
            writer.endObject()
            writer.splice([0x0A])
            return writer.bytes
        }
    }

    /// What keeps proxies and clients from taking a quiet stream for a dead one, and causes no event.
    var heartbeat: [UInt8] {
        switch self {
        case .eventStream: ServerSentEvent.heartbeat
        case .lines: [0x0A]
        }
    }

    /// Names of types and of control blocks are letters, digits and `_.-`, so there is always a block.
    private static func block(_ event: ServerSentEvent?) -> [UInt8] { event?.bytes ?? [] }

    /// - Parameter feedBytes: the most a log may take; cut to a power of two.
    func logOptions(feedBytes: Int) -> Broadcast.Options {
        var options = self == .lines ? Broadcast.Options.lines : Broadcast.Options()
        // A feed that says nothing but heartbeats needs next to nothing; a frame makes the log grow to four of it.
        options.initialBytes = 256
        options.maximumBytes = max(4096, 1 << (Int.bitWidth - 1 - max(1, feedBytes).leadingZeroBitCount))
        return options
    }
}

// MARK: - Negotiation

extension StreamFormat {
    private var mediaType: MediaType {
        switch self {
        case .eventStream: MediaType("text/event-stream")
        case .lines: MediaType("application/x-ndjson")
        }
    }

    /// The format a client accepts most; nil when it accepts none. Without a preference, SSE.
    static func negotiated(_ headers: Headers) -> StreamFormat? {
        headers.mostAccepted(of: allCases, as: \.mediaType)
    }
}
