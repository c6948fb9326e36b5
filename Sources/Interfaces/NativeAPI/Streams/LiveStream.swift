import ChatCore
import ChatModel
import LongPolling
import HTTPServer

/// A validated request for a stream whose connection is not open yet.
struct StreamRequest: Sendable {
    var caller: Caller
    var selection: Selection
    var format: StreamFormat
    /// The objects to include with each event; nil when none were requested.
    var inclusion: IncludePolicy?
    var resumption: ResumePosition
    /// The start position that is shown to the client. It equals the actual start position or is later, but no event is
    /// between the two positions.
    var shownStart: Timetoken
    var ticket: StreamTicket?
    /// The hub's count of audience changes (events that change who may read a channel), read before the user's channels
    /// were looked up.
    var audienceChanges: UInt64
    var groups: GroupSelection?
    /// True when the stream makes its user present on the channels.
    var isPresent = false

    /// The header fields of the response.
    var headers: [(name: String, value: String)] { format.headers + [("Gateway-Cursor", shownStart.description)] }
}

/// An open stream. Confined to `LiveStreams`. The type is small, because there may be many streams.
final class LiveStream {
    let sequence: UInt64
    let connection: StreamConnection
    let owner: ConnectionOwner
    let opened: Timetoken
    let ticket: StreamTicket.Nonce?
    /// The channels on which the stream makes its user present; nil when it does not affect presence.
    var presentOn: Set<ExactText>?
    /// The channel groups that the stream follows; nil when it follows none.
    var groups: GroupSelection?
    /// True when the stream was ended permanently; false when only its connection broke.
    var isEnded = false
    /// The feed of the stream. A change of the selection replaces the feed.
    var feed: StreamFeed
    /// The position during catch-up: all events of the selection up to this position were sent on the connection.
    var position: Timetoken
    var catchUp: Task<Void, Never>?
    /// True when the user's rights must be checked again before the stream receives more events.
    var needsRecheck = false
    /// The second (of the shared timer) in which data was last sent to this stream alone and not through its feed.
    var lastSend: UInt64

    init(
        sequence: UInt64, connection: StreamConnection, owner: ConnectionOwner, order: StreamRequest, feed: StreamFeed,
        opened: Timetoken, tick: UInt64
    ) {
        self.sequence = sequence
        self.connection = connection
        self.owner = owner
        self.opened = opened
        self.feed = feed
        ticket = order.ticket?.nonce
        presentOn = order.isPresent ? [] : nil
        groups = order.groups
        position = order.resumption.from
        lastSend = tick
    }

    var isCatchingUp: Bool { catchUp != nil }

    /// The stream's user: the user of its device if it is a device's stream, otherwise the user of its credential. Nil
    /// when neither names a user.
    var user: UserID? {
        (feed.selection.viewer?.user ?? owner.caller.user).map { UserID($0, in: owner.caller.app) }
    }
}

/// All open streams in the order in which they were opened. A stream can be found by its number, and the list can be
/// read in parts.
struct StreamRoll {
    private var sequences: [UInt64] = []
    private var streams: [LiveStream?] = []
    private(set) var count = 0

    mutating func append(_ stream: LiveStream) {
        sequences.append(stream.sequence)
        streams.append(stream)
        count += 1
    }

    mutating func remove(_ sequence: UInt64) -> LiveStream? {
        let index = firstIndex(above: sequence, orAt: true)
        guard index < sequences.count, sequences[index] == sequence, let stream = streams[index] else { return nil }
        streams[index] = nil
        count -= 1
        compactIfSparse()
        return stream
    }

    subscript(sequence: UInt64) -> LiveStream? {
        let index = firstIndex(above: sequence, orAt: true)
        return index < sequences.count && sequences[index] == sequence ? streams[index] : nil
    }

    /// Returns the open streams in one part of the list, and the number after which the next part begins; nil for the
    /// last part. A part has at most `limit` entries, including the entries of closed streams.
    ///
    /// - Parameter sequence: the stream number after which the part begins; nil for the beginning of the list.
    func part(
        behind sequence: UInt64?, _ order: ListOrder = .ascending, limit: Int
    ) -> (streams: [LiveStream], last: UInt64?) {
        switch order {
        case .ascending:
            let start = sequence.map { firstIndex(above: $0, orAt: false) } ?? 0
            let end = min(sequences.count, start + limit)
            return (streams[start..<end].compactMap(\.self), end < sequences.count ? sequences[end - 1] : nil)
        case .descending:
            let end = sequence.map { firstIndex(above: $0, orAt: true) } ?? sequences.count
            let start = max(0, end - limit)
            return (streams[start..<end].reversed().compactMap(\.self), start > 0 ? sequences[start] : nil)
        }
    }

    private func firstIndex(above sequence: UInt64, orAt: Bool) -> Int {
        var low = 0
        var high = sequences.count
        while low < high {
            let middle = (low + high) / 2
            if sequences[middle] > sequence || (orAt && sequences[middle] == sequence) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    /// Removes the entries of closed streams once more than half of all entries belong to closed streams. Removing them
    /// together keeps closing many streams cheap.
    private mutating func compactIfSparse() {
        guard sequences.count > 64, count < sequences.count / 2 else { return }
        let kept = zip(sequences, streams).filter { $0.1 != nil }
        sequences = kept.map(\.0)
        streams = kept.map(\.1)
    }
}
