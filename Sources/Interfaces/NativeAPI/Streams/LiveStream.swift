import ChatCore
import ChatModel
import Following
import HTTPServer

/// What somebody asked for, ready to become a stream.
struct StreamRequest: Sendable {
    var caller: Caller
    var selection: Selection
    var format: StreamFormat
    /// The objects beside each event; nil for none.
    var inclusion: IncludePolicy?
    var resumption: ResumePosition
    /// Where the client is told that it starts: there too, or later with nothing between.
    var shownStart: Timetoken
    var ticket: StreamTicket.Nonce?
    /// How many changes of who may hear there had been before its user was asked for.
    var audienceChanges: UInt64
    var groups: GroupSelection?
    /// Whether the user is present on the channels by it.
    var isPresent = false
}

/// One open stream as the gateway sees it. Belongs to `LiveStreams`; small, because there are many.
final class LiveStream {
    let sequence: UInt64
    let connection: StreamConnection
    let owner: ConnectionOwner
    let opened: Timetoken
    let ticket: StreamTicket.Nonce?
    /// Where its user is present by it; nil where the stream does not make anybody present.
    var presentOn: Set<ExactText>?
    /// The channel groups it follows, if any.
    var groups: GroupSelection?
    /// It was ended for good, and has not just broken.
    var isEnded = false
    /// What it follows; another one after a change.
    var feed: StreamFeed
    /// While it catches up: everything of the selection up to here is on its way.
    var position: Timetoken
    var catchUp: Task<Void, Never>?
    /// Whether its user has to be asked for again before it gets anything more.
    var mustBeAsked = false
    /// When something was last handed to it by itself, in beats.
    var lastSend: UInt64

    init(
        sequence: UInt64, connection: StreamConnection, owner: ConnectionOwner, order: StreamRequest, feed: StreamFeed,
        opened: Timetoken, beat: UInt64
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
        lastSend = beat
    }

    var isCatchingUp: Bool { catchUp != nil }

    /// The user it is of: as whose device it listens, or for whom alone its credential speaks.
    var user: UserID? {
        (feed.selection.viewer?.user ?? owner.caller.user).map { UserID($0, in: owner.caller.app) }
    }
}

/// Every open stream in the order of opening, found by its number and walked in pieces.
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

    /// At most `limit` places behind a number, and the number to go on behind; nil at the end.
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

    /// Places of closed streams stay until they are half of all, so that closing many at once costs little each.
    private mutating func compactIfSparse() {
        guard sequences.count > 64, count < sequences.count / 2 else { return }
        let kept = zip(sequences, streams).filter { $0.1 != nil }
        sequences = kept.map(\.0)
        streams = kept.map(\.1)
    }
}
