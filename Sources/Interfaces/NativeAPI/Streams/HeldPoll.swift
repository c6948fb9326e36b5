import ChatCore
import ChatModel
import HTTPServer

/// A poll that has nothing to say yet: it hangs on the feed of its selection until the first events come, its time is
/// over, its credential ends, or its client goes.
///
/// An actor on the loop, for the hub calls it as a sink; everything else of it is known to `LiveStreams`.
actor HeldPoll: FeedSink {
    nonisolated let streams: LiveStreams
    nonisolated let caller: Caller
    nonisolated let selection: Selection
    nonisolated let groups: FollowedGroups?
    nonisolated let limit: Int
    /// What its client knows already. The hub may not have handed all of that out when the poll begins.
    nonisolated let after: Timetoken
    nonisolated var unownedExecutor: UnownedSerialExecutor { streams.unownedExecutor }

    /// Its place among those that are held.
    private var number: UInt64?
    private var arrived: [Event] = []
    private var reply: LateReply?
    private var isOver = false

    init(
        _ streams: LiveStreams, _ caller: Caller, _ selection: Selection, groups: FollowedGroups? = nil, limit: Int,
        after: Timetoken
    ) {
        self.streams = streams
        self.caller = caller
        self.selection = selection
        self.groups = groups
        self.limit = limit
        self.after = after
    }

    nonisolated func take(_ events: [Event]) { assumeIsolated { $0.arrive(events) } }

    /// The first batch is the answer; what comes after it is found by the next poll.
    private func arrive(_ events: [Event]) {
        guard !isOver else { return }
        let new = events.first.map { $0.timetoken > after } ?? true ? events : events.filter { $0.timetoken > after }
        guard !new.isEmpty else { return }
        arrived = new
        guard reply != nil else { return leave() }
        finish()
    }

    /// The client waits from now on. False when it had its answer at once, because something came meanwhile.
    func wait(with reply: LateReply) -> Bool {
        self.reply = reply
        guard arrived.isEmpty else {
            finish()
            return false
        }
        reply.onGone { self.assumeIsolated { $0.leave() } }
        return true
    }

    func held(as number: UInt64) { self.number = number }

    /// Answers with what there is.
    func finish() {
        let position = streams.assumeIsolated { $0.hubPosition }
        let batch = PollBatch(arrived, limit: limit, upTo: max(after, position))
        let answer = streams.assumeIsolated { $0.pollPrint.answer(batch, in: selection.channels.space) }
        leave()
        reply?.complete(answer)
        reply = nil
    }

    /// Answers that it cannot go on.
    func fail(_ error: ChatError) {
        leave()
        reply?.fail(Problem(error))
        reply = nil
    }

    /// Hangs on the hub no longer.
    func leave() {
        guard !isOver else { return }
        isOver = true
        streams.assumeIsolated { [number] streams in streams.forget(self, number: number) }
    }
}
