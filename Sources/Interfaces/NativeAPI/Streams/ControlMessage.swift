import ChatCore
import ChatModel
import JSON

/// A block of a stream that contains no event, but a message of the gateway about the stream itself.
struct ControlMessage {
    let name: String
    let data: JSONText
    /// The time in milliseconds after which a disconnected client should reconnect (the `retry` field of SSE); nil to
    /// leave the client's time unchanged.
    var retryMilliseconds: Int?
    /// The position at which the stream starts, printed as the block's id. An EventSource whose connection breaks
    /// before the first event sends the position back as its last id. Nil for a block that must not change the client's
    /// cursor.
    private(set) var id: String?

    /// The default time, in milliseconds, after which a disconnected client reconnects.
    private static let usualRetry = 2000

    private init(_ name: String, retry: Int? = nil, _ print: (inout JSONWriter) -> Void) {
        self.name = name
        retryMilliseconds = retry
        data = JSONText { writer in
            writer.beginObject()
            print(&writer)
            writer.endObject()
        }
    }

    /// The first block of every stream: its id, its start position and its heartbeat interval.
    ///
    /// - Parameter isFollowedByGap: true when a gap block follows. The gap block then carries the position instead of
    ///   this block. A client whose connection breaks between the two blocks therefore receives the gap again.
    static func ready(
        _ id: String, cursor: Timetoken, heartbeat: Int, session: String? = nil, isFollowedByGap: Bool = false
    ) -> ControlMessage {
        let cursor = cursor.description
        var block = ControlMessage("stream.ready", retry: usualRetry) { writer in
            writer.member("stream", id)
            writer.member("cursor", cursor)
            writer.member("heartbeat_seconds", heartbeat)
            if let session { writer.member("session", session) }
        }
        if !isFollowedByGap { block.id = cursor }
        return block
    }

    /// The block before the first event of a stream that could not start at the requested position.
    static func gap(_ resumption: ResumePosition) -> ControlMessage {
        var block = ControlMessage("stream.gap") { printGap(resumption, to: &$0) }
        block.id = resumption.from.description
        return block
    }

    /// Prints the members of a gap, for streams and polls. The number of missed events is unknown, because the events
    /// are no longer stored.
    static func printGap(_ resumption: ResumePosition, to writer: inout JSONWriter) {
        writer.member("requested", resumption.requested)
        writer.member("resumed_from", resumption.from.description)
        if let gap = resumption.gap { writer.member("reason", gap.rawValue) }
        writer.member("missed", "unknown")
    }

    /// The block that a stream receives after its selection was changed.
    static func changed(_ id: String, _ selection: Selection, cursor: Timetoken) -> ControlMessage {
        ControlMessage("stream.changed") { writer in
            writer.member("stream", id)
            writer.member("channels", selection.channelPatterns.map(\.description))
            writer.member("types", selection.types.map(\.description))
            writer.member("cursor", cursor.description)
        }
    }

    /// The last block to a client that reads too slowly. The client reconnects with its last id and misses nothing.
    static let lagged = ControlMessage("stream.lagged") { $0.member("reason", "slow_consumer") }

    /// The last block of a stream that the gateway closes while the client is connected.
    static func closing(_ reason: ClosingReason, retry: Int?) -> ControlMessage {
        ControlMessage("stream.closing", retry: retry) { writer in
            writer.member("reason", reason.rawValue)
            writer.member("final", reason.isFinal)
            if let retry { writer.member("retry_ms", retry) }
        }
    }
}

/// The reasons for which the gateway closes a stream whose client is still connected.
enum ClosingReason: String {
    case draining
    case deleted
    /// The credential was removed, has expired, or no longer covers the stream's selection.
    case unauthorized
    case storeUnavailable = "store_unavailable"
    case tooManyStreams = "too_many_streams"
    /// The same ticket has opened another stream, so the client must have lost the connection of this stream.
    case replaced

    /// True when reconnecting cannot succeed.
    var isFinal: Bool {
        switch self {
        case .deleted, .unauthorized, .replaced: true
        case .draining, .storeUnavailable, .tooManyStreams: false
        }
    }
}
