import ChatModel
import HTTPServer
import JSON

/// The format of a stream. Both formats carry the same blocks with the same cursors.
enum StreamFormat: Hashable, Sendable, CaseIterable {
    /// Server-Sent Events (WHATWG HTML, 9.2).
    case eventStream
    /// One JSON value per line.
    case lines

    /// The format's name in lists of streams.
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
    /// The frame of an event of the log. The frame contains the event's timetoken as the cursor. The block's id is the
    /// timetoken too, unless the block must not move the client's cursor.
    ///
    /// - Parameter included: the objects included with the event; nil when the reader requested none.
    func frame(_ event: Event, with included: JSONText? = nil, hasID: Bool = true) -> [UInt8] {
        var writer = JSONWriter(capacity: event.weight + event.type.utf8.count + 208 + (included?.count ?? 0))
        if self == .eventStream {
            // Printed without a `ServerSentEvent`, which would need copies of all its parts. Names of types contain no
            // line breaks (`Names.check(type:)`).
            if hasID {
                writer.splice("id: ")
                writer.splice(digits: event.timetoken.rawValue)
                writer.splice("\n")
            }
            writer.splice("event: ")
            writer.splice(text: event.type)
            writer.splice("\ndata: ")
        }
        writer.beginText()
        event.printEnvelope(to: &writer, included: included)
        writer.removeLineBreaks()
        writer.splice(self == .eventStream ? "\n\n" : "\n")
        return writer.bytes
    }

    /// The frame of a control block. It has an id if it states the stream's start; other control blocks do not move the
    /// client's cursor.
    func control(_ block: ControlMessage) -> [UInt8] {
        switch self {
        case .eventStream:
            return Self.block(
                ServerSentEvent(
                    id: block.id, event: block.name, data: block.data.bytes,
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

    /// A heartbeat. It keeps proxies and clients from treating a silent stream as broken, and causes no event in the
    /// client.
    var heartbeat: [UInt8] {
        switch self {
        case .eventStream: ServerSentEvent.heartbeat
        case .lines: [0x0A]
        }
    }

    /// Returns the bytes of a block. `event` is never nil, because names of types and control blocks consist of
    /// letters, digits and `_.-`.
    private static func block(_ event: ServerSentEvent?) -> [UInt8] { event?.bytes ?? [] }

    /// Returns the options of a feed's byte log in this format.
    ///
    /// - Parameter feedBytes: the maximum size of a log in bytes; rounded down to a power of two.
    func logOptions(feedBytes: Int) -> Broadcast.Options {
        var options = self == .lines ? Broadcast.Options.lines : Broadcast.Options()
        // A feed that sends only heartbeats needs little memory. The first event lets the log grow to four times the
        // size of its frame.
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

    /// The format that a client prefers according to `Accept`. SSE if it has no preference; nil if it accepts neither
    /// format.
    static func negotiated(_ headers: Headers) -> StreamFormat? {
        // The field of every EventSource; comparing it is cheaper than parsing it.
        headers[all: "Accept"] == ["text/event-stream"]
            ? .eventStream : headers.mostAccepted(of: allCases, as: \.mediaType)
    }
}
