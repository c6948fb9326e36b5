import ChatCore
import ChatModel
import HTTPServer

/// A poll that has nothing to say yet: it hangs on the feed of its selection until the first events come, its time is
/// over, its credential ends, or its client goes.
///
/// An actor on the loop, for the hub calls it as a sink; everything else of it is known to `LongPollTable`.
actor LongPoll: FeedSink {
    nonisolated let polls: LongPollTable
    nonisolated let order: PollRequest
    nonisolated var unownedExecutor: UnownedSerialExecutor { polls.unownedExecutor }

    /// Its place among those that are held.
    private var number: UInt64?
    private var arrived: [Event] = []
    /// Events that have come and that the voice has not been asked about yet, the oldest first.
    private var unseen: [Event] = []
    /// Past it the next poll looks through the log.
    private static let unseenMost = 256
    private var reply: DeferredResponse?
    private var isOver = false

    init(_ polls: LongPollTable, _ order: PollRequest) {
        self.polls = polls
        self.order = order
    }

    nonisolated func take(_ events: [Event]) { assumeIsolated { $0.arrive(events) } }

    /// The first batch is the answer; what comes after it is found by the next poll. The hub may not have handed out all
    /// that the client knows when the poll begins.
    private func arrive(_ events: [Event]) {
        guard !isOver else { return }
        let new = events.filter { $0.timetoken > order.after }
        guard order.voice.asksFilters else {
            arrived = new.filter { order.voice.shows($0) }
            return arrived.isEmpty ? () : conclude()
        }
        if unseen.isEmpty, !new.isEmpty { polls.assumeIsolated { $0.lookLater(self) } }
        unseen += new
        if unseen.count > Self.unseenMost { conclude() }
    }

    /// Asks the voice about what has come, one event after the other, until the time is over.
    ///
    /// - Returns: whether it has to be asked about more.
    func look(until deadline: ContinuousClock.Instant) -> Bool {
        var seen = 0
        while !isOver, seen < unseen.count, arrived.count < order.limit, seen == 0 || ContinuousClock.now < deadline {
            if order.voice.shows(unseen[seen]) { arrived.append(unseen[seen]) }
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

    /// The client waits from now on. False when it had its answer at once, because something came meanwhile.
    func wait(with reply: DeferredResponse) -> Bool {
        self.reply = reply
        guard arrived.isEmpty, !isOver else {
            finish()
            return false
        }
        reply.onGone { self.assumeIsolated { $0.leave() } }
        return true
    }

    func held(as number: UInt64) { self.number = number }

    /// Answers with what there is.
    func finish() {
        guard !isOutdated else { return sendAgain() }
        let position =
            unseen.first.map { Timetoken($0.timetoken.rawValue - 1) }
            ?? polls.assumeIsolated { $0.hubPosition(of: order.selection.channels.app) }
        answer(PollBatch(arrived, limit: order.limit, upTo: max(order.after, position)))
    }

    /// Whether a group that it follows has changed since it was looked up: something may have been said where it does not
    /// listen, and its answer must not lead past that.
    private var isOutdated: Bool {
        guard let followed = order.groups else { return false }
        return followed.version != polls.groups.assumeIsolated { $0.changes }
    }

    /// Answers with nothing, because what it should follow has changed: the next poll begins where this one did, since of
    /// what has come to it meanwhile this one has seen nothing.
    func sendAgain() { answer(PollBatch([], limit: order.limit, upTo: order.after)) }

    func sendAgain(with reply: DeferredResponse) {
        self.reply = reply
        sendAgain()
    }

    private func answer(_ batch: PollBatch) {
        leave()
        if let reply { order.voice.answer(batch, to: reply) }
        reply = nil
    }

    /// Answers that it cannot go on.
    func fail(_ error: ChatError) {
        leave()
        if let reply { order.voice.refuse(error, to: reply) }
        reply = nil
    }

    /// Hangs on the hub no longer.
    func leave() {
        guard !isOver else { return }
        isOver = true
        order.voice.ended()
        polls.assumeIsolated { [number] polls in polls.forget(self, number: number) }
    }
}
