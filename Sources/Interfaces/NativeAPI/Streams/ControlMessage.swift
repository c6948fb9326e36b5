import ChatCore
import ChatModel
import JSON

/// A block by which the gateway speaks on a stream about the stream itself (`conventions.md` 5).
struct ControlMessage {
    let name: String
    let data: JSONText
    /// Tells the client how long to wait before it reconnects.
    var retryMilliseconds: Int?
    /// The position at which the stream starts. An EventSource that is cut before its first event sends it back. Nil for a
    /// block that moves no client.
    private(set) var id: Timetoken?

    /// How long clients wait before they come back, unless told otherwise.
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

    /// The first block of every stream: what it is called, where it starts, and how often it shows that it lives.
    ///
    /// - Parameter isFollowedByGap: the gap then carries the position, so that a client that is cut between the two hears
    ///   of it again.
    static func ready(
        _ id: String, cursor: Timetoken, heartbeat: Int, session: String? = nil, isFollowedByGap: Bool = false
    ) -> ControlMessage {
        var block = ControlMessage("stream.ready", retry: usualRetry) { writer in
            writer.member("stream", id)
            writer.member("cursor", cursor.description)
            writer.member("heartbeat_seconds", heartbeat)
            if let session { writer.member("session", session) }
        }
        if !isFollowedByGap { block.id = cursor }
        return block
    }

    /// Before the first event of a stream that could not start where it was asked to.
    static func gap(_ resumption: ResumePosition) -> ControlMessage {
        var block = ControlMessage("stream.gap") { printGap(resumption, to: &$0) }
        block.id = resumption.from
        return block
    }

    /// The members of a gap, which polls print as well. How much was missed nobody can know: it is gone.
    static func printGap(_ resumption: ResumePosition, to writer: inout JSONWriter) {
        writer.member("requested", resumption.requested)
        writer.member("resumed_from", resumption.from.description)
        if let gap = resumption.gap { writer.member("reason", gap.rawValue) }
        writer.member("missed", "unknown")
    }

    /// After a change of what the stream follows.
    static func changed(_ id: String, _ selection: Selection, cursor: Timetoken) -> ControlMessage {
        ControlMessage("stream.changed") { writer in
            writer.member("stream", id)
            writer.member("channels", selection.channelPatterns.map(\.description))
            writer.member("types", selection.types.map(\.description))
            writer.member("cursor", cursor.description)
        }
    }

    /// The last word to a client that reads too slowly. It comes back with its last id and loses nothing.
    static let lagged = ControlMessage("stream.lagged") { $0.member("reason", "slow_consumer") }

    /// The last word of a stream the gateway ends.
    static func closing(_ reason: ClosingReason, retry: Int?) -> ControlMessage {
        ControlMessage("stream.closing", retry: retry) { writer in
            writer.member("reason", reason.rawValue)
            writer.member("final", reason.isFinal)
            if let retry { writer.member("retry_ms", retry) }
        }
    }
}

/// Why the gateway ends a stream that the client would keep.
enum ClosingReason: String {
    case draining
    case deleted
    /// The credential was removed, has expired, or no longer reaches what the stream follows.
    case unauthorized
    case storeUnavailable = "store_unavailable"
    case tooManyStreams = "too_many_streams"
    /// The same ticket opened another stream: this one's client is gone without a word.
    case replaced

    /// Whether coming back is of no use.
    var isFinal: Bool {
        switch self {
        case .deleted, .unauthorized, .replaced: true
        case .draining, .storeUnavailable, .tooManyStreams: false
        }
    }
}
