import ChatCore
import ChatModel
import HTTPServer

/// A poll that waits for events. It is attached to the hub until the first events arrive, its maximum wait is over, its
/// credential ends, or its client disconnects.
///
/// An actor on the loop, because the hub calls it there. `LongPollTable` manages the other state of the poll.
actor LongPoll: FeedSink {
    nonisolated let polls: LongPollTable
    nonisolated let order: PollRequest
    nonisolated var unownedExecutor: UnownedSerialExecutor { polls.unownedExecutor }

    /// The poll's number in the table; nil before the poll waits.
    private var number: UInt64?
    private var arrived: [Event] = []
    /// Events that have arrived and that the formatter has not examined yet, the oldest first.
    private var unseen: [Event] = []
    /// The maximum number of unexamined events. Above this number, the poll ends, and the client's next request reads
    /// the events from the log.
    private static let unseenMost = 256
    private var reply: DeferredResponse?
    private var isOver = false

    init(_ polls: LongPollTable, _ order: PollRequest) {
        self.polls = polls
        self.order = order
    }

    nonisolated func receive(_ events: [Event]) { assumeIsolated { $0.arrive(events) } }

    /// Handles events from the hub. The first batch with events for the client becomes the response. The client's next
    /// request reads later events. Events up to the client's position are ignored, because the hub may still distribute
    /// them when the poll begins.
    private func arrive(_ events: [Event]) {
        guard !isOver else { return }
        let new = events.filter { $0.timetoken > order.after }
        guard order.formatter.hasFilter else {
            arrived = new.filter { order.formatter.shows($0) }
            return arrived.isEmpty ? () : conclude()
        }
        if unseen.isEmpty, !new.isEmpty { polls.assumeIsolated { $0.pollLater(self) } }
        unseen += new
        if unseen.count > Self.unseenMost { conclude() }
    }

    /// Examines the arrived events with the formatter, one by one, until the deadline.
    ///
    /// - Returns: true when unexamined events remain.
    func poll(until deadline: ContinuousClock.Instant) -> Bool {
        var seen = 0
        while !isOver, seen < unseen.count, arrived.count < order.limit, seen == 0 || ContinuousClock.now < deadline {
            if order.formatter.shows(unseen[seen]) { arrived.append(unseen[seen]) }
            seen += 1
        }
        guard !isOver else { return false }
        unseen.removeFirst(seen)
        guard arrived.isEmpty else {
            conclude()
            return false
        }
        return !unseen.isEmpty
    }

    private func conclude() {
        guard reply != nil else { return leave() }
        finish()
    }

    /// Holds the response until events arrive. Returns false when the response was sent immediately, because events had
    /// already arrived.
    func wait(with reply: DeferredResponse) -> Bool {
        self.reply = reply
        guard arrived.isEmpty, !isOver else {
            finish()
            return false
        }
        reply.onDisconnect { self.assumeIsolated { $0.leave() } }
        return true
    }

    func held(as number: UInt64) { self.number = number }

    /// Sends a response with the events that have arrived.
    func finish() {
        guard !isOutdated else { return sendAgain() }
        let position =
            unseen.first.map { Timetoken($0.timetoken.rawValue - 1) }
            ?? polls.assumeIsolated { $0.hubPosition(of: order.selection.channels.app) }
        answer(PollBatch(arrived, limit: order.limit, upTo: max(order.after, position)))
    }

    /// True when a group of the poll has changed since it was looked up. Events may then have occurred on channels that
    /// the poll does not follow, so its response must not move the client's position.
    private var isOutdated: Bool {
        guard let followed = order.groups else { return false }
        return followed.version != polls.groups.assumeIsolated { $0.changes }
    }

    /// Sends an empty response because the channels to follow have changed. The client's next request begins at the
    /// same position, because this poll has not received the events of the new channels.
    func sendAgain() { answer(PollBatch([], limit: order.limit, upTo: order.after)) }

    func sendAgain(with reply: DeferredResponse) {
        self.reply = reply
        sendAgain()
    }

    private func answer(_ batch: PollBatch) {
        leave()
        if let reply { order.formatter.answer(batch, to: reply) }
        reply = nil
    }

    /// Sends an error because the poll cannot continue.
    func fail(_ error: ChatError) {
        leave()
        if let reply { order.formatter.refuse(error, to: reply) }
        reply = nil
    }

    /// Detaches the poll from the hub and removes it from the table.
    func leave() {
        guard !isOver else { return }
        isOver = true
        order.formatter.ended()
        polls.assumeIsolated { [number] polls in polls.forget(self, number: number) }
    }
}
