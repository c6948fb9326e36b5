import ChatCore
import ChatModel
import HTTPServer

/// A poll that waits for events. It is attached to the hub until the first events arrive, its maximum wait is over, its
/// credential ends, or its client disconnects.
///
/// Belongs to the table: every member is used on the loop's thread. A class and not an actor, because each entry into
/// an actor checks the executor, and thousands of polls may receive the same event.
final class LongPoll: FeedSink, @unchecked Sendable {
    // `@unchecked Sendable` is safe: the constants are Sendable, and everything else is used only by functions that are
    // isolated to the table.

    let polls: LongPollTable
    let order: PollRequest

    /// The poll's place in the table; nil unless the poll waits.
    var place: LongPollTable.Place?
    var feedPlace: FeedPlace?
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

    func receive(_ events: [Event]) { polls.loop.enter(polls) { arrive(events, in: $0) } }

    /// Handles events from the hub. The first batch with events for the client becomes the response. The client's next
    /// request reads later events. Events up to the client's position are ignored, because the hub may still distribute
    /// them when the poll begins.
    private func arrive(_ events: [Event], in polls: isolated LongPollTable) {
        guard !isOver else { return }
        let isNew = events.first.map { $0.timetoken > order.after } ?? true
        let new = isNew ? events : events.filter { $0.timetoken > order.after }
        guard order.formatter.hasFilter else {
            arrived = new.allSatisfy { order.formatter.shows($0) } ? new : new.filter { order.formatter.shows($0) }
            return arrived.isEmpty ? () : conclude(in: polls)
        }
        if unseen.isEmpty, !new.isEmpty { polls.pollLater(self) }
        unseen += new
        if unseen.count > Self.unseenMost { conclude(in: polls) }
    }

    /// Examines the arrived events with the formatter, one by one, until the deadline.
    ///
    /// - Returns: true when unexamined events remain.
    func poll(until deadline: ContinuousClock.Instant, in polls: isolated LongPollTable) -> Bool {
        var seen = 0
        while !isOver, seen < unseen.count, arrived.count < order.limit, seen == 0 || ContinuousClock.now < deadline {
            if order.formatter.shows(unseen[seen]) { arrived.append(unseen[seen]) }
            seen += 1
        }
        guard !isOver else { return false }
        unseen.removeFirst(seen)
        guard arrived.isEmpty else {
            conclude(in: polls)
            return false
        }
        return !unseen.isEmpty
    }

    private func conclude(in polls: isolated LongPollTable) {
        guard reply != nil else { return leave(polls) }
        finish(in: polls)
    }

    /// Holds the response until events arrive. Returns false when the response was sent immediately, because events had
    /// already arrived.
    func wait(with reply: DeferredResponse, in polls: isolated LongPollTable) -> Bool {
        self.reply = reply
        guard arrived.isEmpty, !isOver else {
            finish(in: polls)
            return false
        }
        reply.onDisconnect { [self] in self.polls.assumeIsolated { leave($0) } }
        return true
    }

    /// Sends a response with the events that have arrived.
    func finish(in polls: isolated LongPollTable) {
        guard !isOutdated else { return sendAgain(in: polls) }
        let position = arrived.isEmpty ? max(order.after, examined(in: polls)) : order.after
        answer(PollBatch(arrived, limit: order.limit, upTo: position), in: polls)
    }

    /// The position up to which the poll has received and examined all events.
    private func examined(in polls: isolated LongPollTable) -> Timetoken {
        unseen.first.map { Timetoken($0.timetoken.rawValue - 1) }
            ?? polls.hubPosition(of: order.selection.channels.app)
    }

    /// True when a group of the poll has changed since it was looked up. Events may then have occurred on channels that
    /// the poll does not follow, so its response must not move the client's position.
    private var isOutdated: Bool {
        guard let followed = order.groups else { return false }
        return followed.version != polls.loop.enter(polls.groups) { $0.changes }
    }

    /// Sends an empty response because the channels to follow have changed. The client's next request begins at the
    /// same position, because this poll has not received the events of the new channels.
    func sendAgain(in polls: isolated LongPollTable) {
        answer(PollBatch([], limit: order.limit, upTo: order.after), in: polls)
    }

    func sendAgain(with reply: DeferredResponse, in polls: isolated LongPollTable) {
        self.reply = reply
        sendAgain(in: polls)
    }

    private func answer(_ batch: PollBatch, in polls: isolated LongPollTable) {
        leave(polls)
        if let reply { order.formatter.answer(batch, to: reply) }
        reply = nil
    }

    /// Sends an error because the poll cannot continue.
    func fail(_ error: ChatError, in polls: isolated LongPollTable) {
        leave(polls)
        if let reply { order.formatter.refuse(error, to: reply) }
        reply = nil
    }

    /// Detaches the poll from the hub and removes it from the table.
    func leave(_ polls: isolated LongPollTable) {
        guard !isOver else { return }
        isOver = true
        order.formatter.ended()
        polls.forget(self)
    }
}
