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
    /// An event of the log. Its cursor is its timetoken, which is also the id of the block.
    func frame(_ event: Event) -> [UInt8] {
        let envelope = event.envelope.onOneLine().bytes
        switch self {
        case .eventStream:
            return Self.block(ServerSentEvent(id: event.timetoken.description, event: event.type, data: envelope))
        case .lines:
            return envelope + [0x0A]
        }
    }

    /// A block that is no event of the log: it has no id, so it never moves a client's cursor.
    func control(_ block: ControlBlock) -> [UInt8] {
        switch self {
        case .eventStream:
            return Self.block(
                ServerSentEvent(event: block.name, data: block.data.bytes, retryMilliseconds: block.retryMilliseconds))
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
    /// The format a client accepts most (RFC 9110, 12.5.1); nil when it accepts none. Without a preference, SSE.
    static func negotiated(_ headers: Headers) -> StreamFormat? {
        let ranges = headers[all: "Accept"].flatMap { $0.split(separator: ",") }.compactMap(MediaRange.init)
        guard !ranges.isEmpty else { return .eventStream }
        let weighed = allCases.map { (format: $0, quality: quality(of: $0, ranges)) }
        let best = weighed.max { $0.quality < $1.quality || ($0.quality == $1.quality && $0.format == .lines) }
        return best.flatMap { $0.quality > 0 ? $0.format : nil }
    }

    /// The most exact range decides, as the RFC has it.
    private static func quality(of format: StreamFormat, _ ranges: [MediaRange]) -> Int {
        let (type, subtype) = format == .eventStream ? ("text", "event-stream") : ("application", "x-ndjson")
        let exact = ranges.last { $0.type == type && $0.subtype == subtype }
        let family = ranges.last { $0.type == type && $0.subtype == "*" }
        let any = ranges.last { $0.type == "*" && $0.subtype == "*" }
        return (exact ?? family ?? any)?.quality ?? 0
    }

    private struct MediaRange {
        let type: String
        let subtype: String
        /// In thousandths.
        let quality: Int

        init?(_ text: Substring) {
            let parts = text.split(separator: ";").map(Self.trimmed)
            guard let names = parts.first?.split(separator: "/"), names.count == 2 else { return nil }
            type = names[0].lowercased()
            subtype = names[1].lowercased()
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            quality = weight.map { Self.thousandths($0.dropFirst(2)) } ?? 1000
        }

        /// A weight outside 0...1, infinite or no number at all asks for nothing.
        private static func thousandths(_ text: Substring) -> Int {
            guard let weight = Double(text), (0...1).contains(weight) else { return 0 }
            return Int(weight * 1000)
        }

        private static func trimmed(_ text: Substring) -> Substring {
            var text = text.drop { $0 == " " || $0 == "\t" }
            while let last = text.last, last == " " || last == "\t" { text.removeLast() }
            return text
        }
    }
}
