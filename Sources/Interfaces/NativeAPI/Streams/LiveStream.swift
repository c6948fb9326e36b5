import ChatCore
import ChatModel
import LongPolling
import HTTPServer

/// A request for a stream, complete except for its connection.
struct StreamRequest: Sendable {
    var caller: Caller
    var selection: Selection
    var format: StreamFormat
    /// The objects included with each event; nil for none.
    var inclusion: IncludePolicy?
    var resumption: ResumePosition
    /// The start position that is sent to the client. It equals the start, or is later with no event between the two.
    var shownStart: Timetoken
    var ticket: StreamTicket.Nonce?
    /// The number of audience changes before the user's channels were looked up.
    var audienceChanges: UInt64
    var groups: GroupSelection?
    /// True when the stream makes its user present on the channels.
    var isPresent = false
}

/// One open stream. Confined to `LiveStreams`. Kept small, because there are many.
final class LiveStream {
    let sequence: UInt64
    let connection: StreamConnection
    let owner: ConnectionOwner
    let opened: Timetoken
    let ticket: StreamTicket.Nonce?
    /// The channels on which the stream makes its user present; nil when it does not affect presence.
    var presentOn: Set<ExactText>?
    /// The channel groups that the stream follows, if any.
    var groups: GroupSelection?
    /// True when the stream was ended for good; false when its connection only broke.
    var isEnded = false
    /// The feed that the stream follows. It is replaced when the selection changes.
    var feed: StreamFeed
    /// The position during catch-up: every event of the selection up to here has been passed to the connection.
    var position: Timetoken
    var catchUp: Task<Void, Never>?
    /// True when the user's rights must be checked again before the stream receives anything more.
    var needsRecheck = false
    /// The beat at which data was last sent to this stream alone, outside its feed.
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
        ticket = order.ticket
        presentOn = order.isPresent ? [] : nil
        groups = order.groups
        position = order.resumption.from
        lastSend = tick
    }

    var isCatchingUp: Bool { catchUp != nil }

    /// The stream's user: the one whose device it is, or the only one for whom its credential may act.
    var user: UserID? {
        (feed.selection.viewer?.user ?? owner.caller.user).map { UserID($0, in: owner.caller.app) }
    }
}

/// All open streams in the order of opening. They can be found by number and walked in parts.
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

    /// Returns the streams of at most `limit` places after a number, and the number at which to continue; nil at the
    /// end.
    ///
    /// - Parameter sequence: nil for the beginning of the order.
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

    /// Removes the places of closed streams once they make up half of all places, so that closing many streams at once
    /// stays cheap.
    private mutating func compactIfSparse() {
        guard sequences.count > 64, count < sequences.count / 2 else { return }
        let kept = zip(sequences, streams).filter { $0.1 != nil }
        sequences = kept.map(\.0)
        streams = kept.map(\.1)
    }
}
