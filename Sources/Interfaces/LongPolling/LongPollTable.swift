public import ChatCore
public import ChatModel
public import HTTPServer
import Locking
import Synchronization

/// The polls that wait for events, each until the tick (second) at which it ends. All interfaces share one table.
///
/// An actor on the loop, on which the hub also runs.
public actor LongPollTable {
    /// The maximum time for which a poll reads the log. A poll that has found no event by then gets an empty response,
    /// which contains the position up to which the log was read.
    private static let readingTime: Duration = .seconds(2)

    /// The length of a range of the log that is read on the loop.
    private static let shortRange: Duration = .milliseconds(200)

    /// The place of a waiting poll in the table.
    struct Place {
        let owner: ConnectionOwner
        let address: RemoteAddress
        /// The tick at which the poll gets its response, even without events.
        let due: UInt64
        /// The index among the polls that end at the same tick.
        var index = 0
    }

    /// The service whose hub delivers the events.
    public nonisolated let service: ChatService
    /// The loop, on which the table runs.
    public nonisolated let loop: Loop
    /// The timer that ends polls at their last tick.
    public nonisolated let secondTimer: SecondTimer
    /// The counts of streams and polls, which have common limits.
    public nonisolated let owners: ConnectionLimits
    /// Notifies streams and polls of group changes.
    public nonisolated let groups: GroupObserver
    /// The loop's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The waiting polls, by the tick at which they end. The polls of one tick have no particular order.
    private var dueAt: [UInt64: [LongPoll]] = [:]
    /// The number of polls that wait.
    public private(set) var count = 0
    private nonisolated let draining = Atomic(false)
    private nonisolated var isDraining: Bool { draining.load(ordering: .relaxed) }
    /// The polls with events that their formatters have not examined yet, in the order in which the polls will be
    /// examined.
    private var looking: [LongPoll] = []
    /// The number of polls that had to wait, since the start.
    public private(set) var heldSinceStart: UInt64 = 0

    /// Creates an empty table.
    ///
    /// - Parameter secondTimer: the source of the ticks. Tests trigger the ticks themselves.
    public init(service: ChatService, loop: Loop, secondTimer: SecondTimer.Source = .everySecond) {
        self.service = service
        self.loop = loop
        self.secondTimer = SecondTimer(loop: loop, secondTimer)
        owners = ConnectionLimits(limits: service.liveLimits)
        groups = GroupObserver(service: service, loop: loop)
        groups.observe { [weak self] groups in
            await self?.sendAgain { $0.groups?.isAmong(groups, $0.caller.app) == true }
        }
        self.secondTimer.observe { [weak self] tick in self?.assumeIsolated { $0.tick(tick) } ?? false }
        service.keyring.observe { [weak self] in self?.recheckLater($0.app) }
        service.keyring.observeApps { [weak self] id in
            guard let self else { return }
            if let app = service.keyring.app(id), let (secret, until) = app.previousSecret {
                self.owners.recordEnd(of: AppRecord.print(ofSecret: secret), in: id, until)
            }
            recheckLater(id)
        }
        service.observeRevocations { [weak self] in self?.recheckLater($0) }
    }

    private nonisolated func recheckLater(_ app: AppID) {
        loop.post { self.assumeIsolated { $0.recheck { $0.key.app == app } } }
    }

    /// Advances the timer by one second, for tests.
    public func pass() { secondTimer.tick() }

    /// True when no poll waits.
    public var isEmpty: Bool { count == 0 }

    /// The waiting polls, in no particular order.
    private var waiting: [LongPoll] { dueAt.values.flatMap(\.self) }

    func hubPosition(of app: AppID) -> Timetoken { loop.enter(service.hub) { $0.position(of: app) } }

    /// Sends a response to every waiting poll. Later polls are rejected.
    public func drain() {
        draining.store(true, ordering: .relaxed)
        for poll in waiting { poll.finish(in: self) }
    }
}

extension LongPollTable {
    /// The hub's count of audience changes (events that change who may read a channel), read after the hub has
    /// distributed all events of the app's log. Read the count before looking up the channels that a user may read: a
    /// higher count later means that the result may be outdated.
    ///
    /// - Throws: `.unavailable` while the gateway starts or stops.
    public nonisolated(nonsending) func audienceChanges(in chat: ChatAccess) async throws(ChatError) -> UInt64 {
        if let changes = audienceChangesAtOnce(in: chat) { return changes }
        try await catchUpWithLog(of: chat)
        return await loop.run(on: service.hub) { $0.audienceChanges }
    }

    /// The result of ``audienceChanges(in:)``, if the hub has already distributed all events of the app's log, and the
    /// end of the log is known without waiting; nil otherwise. Always nil on a thread other than the loop's.
    public nonisolated func audienceChangesAtOnce(in chat: ChatAccess) -> UInt64? {
        guard let watermark = chat.watermarkAtOnce else { return nil }
        return audienceChangesAtOnce(upTo: watermark)
    }

    /// The result of ``audienceChangesAtOnce(in:)`` for a log that ends at `watermark`.
    public nonisolated func audienceChangesAtOnce(upTo watermark: Timetoken) -> UInt64? {
        guard loop.isCurrent else { return nil }
        return loop.enter(service.hub) { $0.isRunning && $0.position >= watermark ? $0.audienceChanges : nil }
    }

    /// Waits until the hub has distributed everything that the app's log contains now.
    private nonisolated(nonsending) func catchUpWithLog(of chat: ChatAccess) async throws(ChatError) {
        guard await reach(try await chat.watermark()) else { throw ChatError.notListening }
    }

    /// Returns true when the hub has distributed all events up to a position of the log. Call on the loop.
    public nonisolated func hasReached(_ position: Timetoken) -> Bool {
        loop.enter(service.hub) { $0.isRunning && $0.position >= position }
    }

    /// Waits until the hub has distributed all events up to a position of the log. Returns false while the gateway
    /// starts or stops.
    public nonisolated(nonsending) func reach(_ position: Timetoken) async -> Bool {
        if await loop.run(on: service.hub, { $0.isRunning && $0.position >= position }) { return true }
        return await service.hub.reach(position)
    }

    /// Returns true when the poll's groups, or the channels that its user may read, have changed since they were looked
    /// up.
    private func isOutdated(_ order: PollRequest) -> Bool {
        if let followed = order.groups, followed.version != loop.enter(groups, { $0.changes }) { return true }
        guard let changes = order.audienceChanges else { return false }
        return loop.enter(service.hub) { $0.audienceMayHaveChanged(order.selection.channels, since: changes) }
    }

    private func sendAgain(_ isConcerned: (PollRequest) -> Bool) {
        for poll in waiting where isConcerned(poll.order) { poll.sendAgain(in: self) }
    }

    /// Ends the polls that the closure selects. Their responses contain the events that have arrived, if any.
    public func finish(_ isConcerned: (PollRequest) -> Bool) {
        for poll in waiting where isConcerned(poll.order) { poll.finish(in: self) }
    }
}

// MARK: - Following

extension LongPollTable {
    /// Starts a poll that has missed no event, if this is known without waiting. Returns nil for any other poll, and on a
    /// thread other than the loop's; call ``follow(_:in:waits:)`` instead.
    ///
    /// Call this in the same step of the loop as ``audienceChangesAtOnce(in:)``, after it has returned a count. The hub has
    /// then distributed all events that the client may know.
    ///
    /// The poll is attached when its response is opened. If the hub distributes an event in between, the client gets an
    /// empty response, and reads the event with its next request.
    ///
    /// - Parameter address: the client's address, for which there may be a limit.
    /// - Throws: `.tooMany` when a limit is reached, `.unavailable` while the gateway stops.
    public nonisolated func followAtOnce(
        _ order: PollRequest, in chat: ChatAccess, from address: RemoteAddress
    ) throws(ChatError) -> DeferredStart? {
        guard order.groups == nil, loop.isCurrent else { return nil }
        let position = loop.enter(service.hub) { hub -> Timetoken? in
            guard hub.isRunning else { return nil }
            // The position of an app is never above the hub's, which is found without a search.
            guard hub.position > order.after else { return hub.position }
            let end = hub.position(of: chat.app)
            guard end > order.after else { return hub.position }
            let isShort = end <= order.after.adding(Self.shortRange)
            return isShort && chat.hasMissedNothing(order.selection, after: order.after) ? hub.position : nil
        }
        guard let position else { return nil }
        guard !isDraining else { throw ChatError.notListening }
        let owner = try owners.admit(order.caller, from: address)
        return DeferredStart { reply in
            self.loop.enter(self) { $0.begin(order, owner, reply, at: position) }
        } onDrop: {
            self.owners.leave(owner, from: address)
            self.loop.post { order.formatter.ended() }
        }
    }

    /// Attaches a poll to the hub and holds its response. `position` is the hub's position at which the poll was
    /// checked. The limits and the credential were checked in the same step of the loop, so they are not checked again.
    private func begin(
        _ order: PollRequest, _ owner: ConnectionOwner, _ reply: DeferredResponse, at position: Timetoken
    ) {
        let poll = LongPoll(self, order)
        let hasMissedNothing = loop.enter(service.hub) { hub in
            hub.attach(poll, to: order.selection)
            return hub.isRunning && hub.position == position
        }
        guard hasMissedNothing, !isDraining else {
            owners.leave(owner, from: reply.remoteAddress)
            return poll.sendAgain(with: reply, in: self)
        }
        enter(poll, owner, reply)
        _ = poll.wait(with: reply, in: self)
    }

    /// Reads the events that the client has missed. If there are none, attaches the poll to the hub.
    ///
    /// - Parameters:
    ///   - chat: the app with the rights of the request's caller.
    ///   - waits: false for a poll whose response must be sent immediately, because it reports a gap.
    /// - Throws: `.tooMany` when a limit is reached, `.unavailable` while the gateway starts or stops.
    public nonisolated(nonsending) func follow(
        _ order: PollRequest, in chat: ChatAccess, waits: Bool = true
    ) async throws(ChatError) -> PollOutcome {
        // A client that has emitted an event and received the response gets the event here without a wait, even if the
        // hub has not distributed the event yet.
        try await catchUpWithLog(of: chat)
        let poll = LongPoll(self, order)
        let place = try await loop.run(on: self) { polls throws(ChatError) in try polls.attach(poll) }
        let (missed, reached): ([Event], Timetoken)
        do throws(ChatError) {
            (missed, reached) =
                place.isOutdated ? ([], place.position) : try await self.missed(order, chat, at: place)
        } catch {
            await loop.run(on: self) { poll.leave($0) }
            throw error
        }
        guard missed.isEmpty, waits, !place.isOutdated, reached >= place.position else {
            await loop.run(on: self) { poll.leave($0) }
            let upTo = place.isOutdated ? order.after : max(reached, order.after)
            return .now(PollBatch(missed, limit: order.limit, upTo: upTo))
        }
        return .deferred(
            DeferredStart { reply in
                self.assumeIsolated { $0.hold(poll, reply) }
            } onDrop: {
                self.loop.post { self.assumeIsolated { poll.leave($0) } }
            })
    }

    /// Reads the events that are in the log after the client's position. Returns them and the position up to which the
    /// log was read. A long range, or a range to which a filter applies, is read off the loop, because the read may
    /// take long and the loop serves all connections.
    private nonisolated(nonsending) func missed(
        _ order: PollRequest, _ chat: ChatAccess, at place: Attachment
    ) async throws(ChatError) -> (events: [Event], reached: Timetoken) {
        guard order.after < place.position else { return ([], place.position) }
        if place.position <= order.after.adding(Self.shortRange) && order.selection.filter == nil
            && !order.formatter.hasFilter
        {
            return try await Self.read(order, chat, at: place)
        }
        return try await asLongWork {
            () async throws(ChatError) -> (events: [Event], reached: Timetoken) in
            try await Self.read(order, chat, at: place)
        }
    }

    private nonisolated(nonsending) static func read(
        _ order: PollRequest, _ chat: ChatAccess, at place: Attachment
    ) async throws(ChatError) -> (events: [Event], reached: Timetoken) {
        let deadline = ContinuousClock.now + readingTime
        var position = order.after
        repeat {
            let found = try await chat.missed(
                order.selection, audienceSnapshot: place.audienceSnapshot, after: position, upTo: place.position,
                until: deadline)
            let shown = found.events.filter { order.formatter.shows($0) }
            if !shown.isEmpty { return (shown, found.reached) }
            position = found.reached
        } while position < place.position && !Task.isCancelled && ContinuousClock.now < deadline
        return ([], position)
    }

    /// The result of attaching a poll to the hub: the hub's position at that time, and the channels that the poll's
    /// device may read (`audienceSnapshot`; nil for a poll that does not belong to a device).
    struct Attachment {
        let position: Timetoken
        let audienceSnapshot: AudienceSnapshot?
        /// True when the poll's groups, or the channels that its user may read, changed after they were looked up and
        /// before the poll was attached. The client's next request looks them up again.
        let isOutdated: Bool
    }

    /// Attaches a poll to the hub. The poll receives every event after the returned position and must read the log up
    /// to that position.
    func attach(_ poll: LongPoll) throws(ChatError) -> Attachment {
        if let refusal = refusal(of: poll.order.caller, from: nil) { throw refusal }
        let isOutdated = isOutdated(poll.order)
        let place = loop.enter(service.hub) { hub -> Attachment? in
            guard hub.isRunning else { return nil }
            hub.attach(poll, to: poll.order.selection)
            return Attachment(
                position: hub.position(of: poll.order.selection.channels.app),
                audienceSnapshot: hub.audienceSnapshot(of: poll.order.selection), isOutdated: isOutdated)
        }
        guard let place else { throw ChatError.notListening }
        return place
    }

    private func refusal(of caller: Caller, from address: RemoteAddress?) -> ChatError? {
        isDraining ? ChatError.notListening : owners.refusal(of: caller, from: address)
    }

    /// Holds the response to the poll's client until events arrive. First repeats the checks of the poll, because their
    /// results may have changed while the log was read.
    private func hold(_ poll: LongPoll, _ reply: DeferredResponse) {
        guard !isOutdated(poll.order) else { return poll.sendAgain(with: reply, in: self) }
        guard poll.wait(with: reply, in: self) else { return }
        if let refusal = refusal(of: poll.order.caller, from: reply.remoteAddress) {
            return poll.fail(refusal, in: self)
        }
        guard poll.order.formatter.isInForce(poll.order) else { return poll.fail(Self.endedCredential, in: self) }
        enter(poll, owners.enter(poll.order.caller, from: reply.remoteAddress), reply)
    }

    private func enter(_ poll: LongPoll, _ owner: ConnectionOwner, _ reply: DeferredResponse) {
        heldSinceStart += 1
        count += 1
        let due = secondTimer.now + UInt64(max(1, poll.order.hold.components.seconds))
        poll.place = Place(owner: owner, address: reply.remoteAddress, due: due)
        dueAt[due, default: []].insert(poll)
        // The timer runs while polls wait.
        if count == 1 { secondTimer.start() }
    }

    /// Removes a poll that has ended from the hub and the table.
    func forget(_ poll: LongPoll) {
        loop.enter(service.hub) { $0.detach(poll) }
        guard let place = poll.place else { return }
        poll.place = nil
        count -= 1
        dueAt[place.due]?.remove(at: place)
        owners.leave(place.owner, from: place.address)
    }

    /// Adds a poll to the list of polls with unexamined events. In one of the next iterations of the loop, the poll's
    /// formatter examines the events.
    func pollLater(_ poll: LongPoll) {
        looking.append(poll)
        if looking.count == 1 { postPoll() }
    }

    private func postPoll() { loop.post { self.assumeIsolated { $0.poll() } } }

    /// Lets the formatters of the listed polls examine their events, for about `Limits.hubTurn` (2 ms by default) in
    /// one iteration of the loop. Polls that still have unexamined events are added to the end of the list. The clock
    /// is checked after each poll, because a single poll may take all of this time, and the loop does no other work
    /// meanwhile.
    private func poll() {
        let deadline = ContinuousClock.now + service.limits.hubTurn
        var asked = 0
        var again: [LongPoll] = []
        while asked < looking.count, asked == 0 || ContinuousClock.now < deadline {
            let poll = looking[asked]
            asked += 1
            if poll.poll(until: deadline, in: self) { again.append(poll) }
        }
        looking.removeFirst(asked)
        looking += again
        if !looking.isEmpty { postPoll() }
    }
}

// MARK: - Timer and credentials

extension LongPollTable {
    static let endedCredential = ChatError(
        .unauthorized, "the API key is unknown or has expired", slug: "credential_invalid")

    /// Sends responses to the polls that end at this tick. Returns true while polls wait.
    private func tick(_ tick: UInt64) -> Bool {
        let ended = Set(owners.ended(at: service.clock.now).map { ObjectIdentifier($0) })
        if !ended.isEmpty { recheck { ended.contains(ObjectIdentifier($0)) } }
        for poll in dueAt.removeValue(forKey: tick) ?? [] { poll.finish(in: self) }
        return count > 0
    }

    /// Ends the selected polls whose credentials are no longer valid or must be checked again.
    private func recheck(_ isConcerned: (ConnectionOwner) -> Bool) {
        for poll in waiting where poll.place.map({ isConcerned($0.owner) }) == true {
            let formatter = poll.order.formatter
            if !formatter.isInForce(poll.order) {
                poll.fail(Self.endedCredential, in: self)
            } else if formatter.needsRecheck {
                poll.sendAgain(in: self)
            }
        }
    }
}

extension [LongPoll] {
    fileprivate mutating func insert(_ poll: LongPoll) {
        poll.place?.index = count
        append(poll)
    }

    /// Removes the poll with this place. The last poll takes the place.
    fileprivate mutating func remove(at place: LongPollTable.Place) {
        let last = removeLast()
        guard place.index < count else { return }
        self[place.index] = last
        last.place?.index = place.index
    }
}
