public import ChatCore
public import ChatModel
public import HTTPServer
import Locking

/// Polls that wait for something to happen, each until its beat has come, in whatever wire language they were asked.
///
/// An actor on the streaming loop, where the hub and the waiting sockets are.
public actor LongPollTable {
    /// How long a poll may look for something in the past; then it is answered with how far it has come.
    private static let readingTime: Duration = .seconds(2)

    struct Entry {
        let poll: LongPoll
        let owner: ConnectionOwner
        let address: RemoteAddress
        /// The beat at which its time is over.
        let due: UInt64
    }

    public nonisolated let service: ChatService
    public nonisolated let loop: Loop
    public nonisolated let secondTimer: SecondTimer
    /// Streams count with the polls.
    public nonisolated let owners: ConnectionLimits
    /// Tells streams and polls of groups that change.
    public nonisolated let groups: GroupObserver
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var waiting: [UInt64: Entry] = [:]
    /// The numbers of those due at a beat.
    private var dueAt: [UInt64: Set<UInt64>] = [:]
    private var isDraining = false
    /// Those whose voices are to be asked about events that have come, in turn.
    private var looking: [LongPoll] = []
    /// Polls that had to wait since the start.
    public private(set) var heldSinceStart: UInt64 = 0

    /// - Parameter pulse: decided by tests.
    public init(service: ChatService, loop: Loop, secondTimer: SecondTimer.Source = .everySecond) {
        self.service = service
        self.loop = loop
        self.secondTimer = SecondTimer(loop: loop, secondTimer)
        owners = ConnectionLimits(limits: service.liveLimits)
        groups = GroupObserver(service: service, loop: loop)
        groups.observe { [weak self] groups in
            await self?.sendAgain { $0.groups?.isAmong(groups, $0.caller.app) == true }
        }
        self.secondTimer.observe { [weak self] beat in self?.assumeIsolated { $0.beat(beat) } ?? false }
        service.keyring.observe { [weak self] in self?.recheckLater($0.app) }
        service.keyring.observeApps { [weak self] id in
            guard let self else { return }
            if let app = service.keyring.app(id), let (secret, until) = app.previousSecret {
                self.owners.noteEnd(of: AppRecord.print(ofSecret: secret), in: id, until)
            }
            recheckLater(id)
        }
        service.observeRevocations { [weak self] in self?.recheckLater($0) }
    }

    private nonisolated func recheckLater(_ app: AppID) {
        loop.post { self.assumeIsolated { $0.recheck { $0.key.app == app } } }
    }

    /// One second goes by: for tests.
    public func pass() { secondTimer.beat() }

    public var isEmpty: Bool { waiting.isEmpty }
    /// How many wait now.
    public var count: Int { waiting.count }

    func hubPosition(of app: AppID) -> Timetoken { service.hub.assumeIsolated { $0.position(of: app) } }

    /// Answers everybody who waits; who asks later is refused.
    public func drain() {
        isDraining = true
        for entry in waiting.values { entry.poll.assumeIsolated { $0.finish() } }
    }
}

extension LongPollTable {
    /// How many changes of who may hear the hub has handed out, once those are among them that the app has made so far: to be
    /// asked before it is asked what a user may hear.
    ///
    /// - Throws: `.unavailable` while the gateway starts or stops.
    public nonisolated func audienceChanges(in chat: ChatAccess) async throws(ChatError) -> UInt64 {
        try await catchUpWithLog(of: chat)
        return await onLoop { $0.service.hub.assumeIsolated { $0.audienceChanges } }
    }

    /// Returns once the hub has handed out what the app's log holds now.
    private nonisolated func catchUpWithLog(of chat: ChatAccess) async throws(ChatError) {
        let known = try await chat.watermark()
        let app = chat.app
        if await onLoop({ $0.hubPosition(of: app) }) < known, await !service.hub.reach(known) {
            throw ChatError.notListening
        }
    }

    /// Whether what the poll's user may hear, or the groups that it follows, have changed since that was looked up.
    private func isOutdated(_ order: PollRequest) -> Bool {
        if let followed = order.groups, followed.version != groups.assumeIsolated({ $0.changes }) { return true }
        guard let changes = order.audienceChanges else { return false }
        return service.hub.assumeIsolated { $0.mayHearDifferently(order.selection.channels, since: changes) }
    }

    private func sendAgain(_ isConcerned: (PollRequest) -> Bool) {
        for entry in waiting.values where isConcerned(entry.poll.order) {
            entry.poll.assumeIsolated { $0.sendAgain() }
        }
    }

    /// Answers some before their time, with nothing.
    public func finish(_ isConcerned: (PollRequest) -> Bool) {
        for entry in waiting.values where isConcerned(entry.poll.order) {
            entry.poll.assumeIsolated { $0.finish() }
        }
    }
}

// MARK: - Following

extension LongPollTable {
    /// Finds what the client has missed, and hangs it on the hub when that is nothing.
    ///
    /// - Parameters:
    ///   - chat: reads the log as the order's caller.
    ///   - waits: false for one that is to be told at once, because it has a gap.
    /// - Throws: `.tooMany` past a limit, `.unavailable` while the gateway starts or stops.
    public nonisolated func follow(
        _ order: PollRequest, in chat: ChatAccess, waits: Bool = true
    ) async throws(ChatError) -> PollOutcome {
        // Whoever was told of an event by its emit gets it here without a wait, though the hub may not have seen it yet.
        try await catchUpWithLog(of: chat)
        let poll = LongPoll(self, order)
        let place = try await onLoop { polls throws(ChatError) in try polls.attach(poll) }
        let (missed, reached): ([Event], Timetoken)
        do throws(ChatError) {
            (missed, reached) =
                place.isOutdated ? ([], place.position) : try await self.missed(order, chat, at: place)
        } catch {
            await onLoop { _ in poll.assumeIsolated { $0.leave() } }
            throw error
        }
        guard missed.isEmpty, waits, !place.isOutdated, reached >= place.position else {
            await onLoop { _ in poll.assumeIsolated { $0.leave() } }
            let upTo = place.isOutdated ? order.after : max(reached, order.after)
            return .now(PollBatch(missed, limit: order.limit, upTo: upTo))
        }
        return .later(
            DeferredStart { reply in
                self.assumeIsolated { $0.hold(poll, reply) }
            } onDrop: {
                self.loop.post { poll.assumeIsolated { $0.leave() } }
            })
    }

    /// What was in the log already. Read off the loop, where everyone waits, unless it is little: a filter over a long past
    /// is work.
    private nonisolated func missed(
        _ order: PollRequest, _ chat: ChatAccess, at place: Place
    ) async throws(ChatError) -> (events: [Event], reached: Timetoken) {
        guard order.after < place.position else { return ([], place.position) }
        if place.position <= order.after.adding(.milliseconds(200)) && order.selection.filter == nil
            && !order.voice.asksFilters
        {
            return try await Self.read(order, chat, at: place)
        }
        return try await asLongWork {
            () async throws(ChatError) -> (events: [Event], reached: Timetoken) in
            try await Self.read(order, chat, at: place)
        }
    }

    private static func read(
        _ order: PollRequest, _ chat: ChatAccess, at place: Place
    ) async throws(ChatError) -> (events: [Event], reached: Timetoken) {
        let deadline = ContinuousClock.now + readingTime
        var position = order.after
        repeat {
            let found = try await chat.missed(
                order.selection, audienceSnapshot: place.audienceSnapshot, after: position, upTo: place.position,
                until: deadline)
            let shown = found.events.filter { order.voice.shows($0) }
            if !shown.isEmpty { return (shown, found.reached) }
            position = found.reached
        } while position < place.position && !Task.isCancelled && ContinuousClock.now < deadline
        return ([], position)
    }

    /// Where the hub was when a poll was hung on it, and what its viewer may hear, if it has one.
    struct Place {
        let position: Timetoken
        let audienceSnapshot: AudienceSnapshot?
        /// Whether what it was begun with had changed by then: the next poll asks anew.
        let isOutdated: Bool
    }

    /// Hangs a poll on the hub: it is handed everything above the place, and has to read the log itself up to there.
    func attach(_ poll: LongPoll) throws(ChatError) -> Place {
        if let refusal = refusal(of: poll.order.caller, from: nil) { throw refusal }
        let isOutdated = isOutdated(poll.order)
        let place = service.hub.assumeIsolated { hub -> Place? in
            guard hub.isRunning else { return nil }
            hub.attach(poll, to: poll.order.selection)
            return Place(
                position: hub.position(of: poll.order.selection.channels.app),
                audienceSnapshot: hub.audienceSnapshot(of: poll.order.selection), isOutdated: isOutdated)
        }
        guard let place else { throw ChatError.notListening }
        return place
    }

    private func refusal(of caller: Caller, from address: RemoteAddress?) -> ChatError? {
        isDraining ? ChatError.notListening : owners.refusal(of: caller, from: address)
    }

    /// The poll's client waits from now on; what was asked before may have changed while the log was read.
    private func hold(_ poll: LongPoll, _ reply: DeferredResponse) {
        guard !isOutdated(poll.order) else { return poll.assumeIsolated { $0.sendAgain(with: reply) } }
        guard poll.assumeIsolated({ $0.wait(with: reply) }) else { return }
        let (caller, address) = (poll.order.caller, reply.remoteAddress)
        if let refusal = refusal(of: caller, from: address) { return poll.assumeIsolated { $0.fail(refusal) } }
        guard poll.order.voice.isInForce(poll.order) else {
            return poll.assumeIsolated { $0.fail(Self.endedCredential) }
        }
        heldSinceStart += 1
        let number = heldSinceStart
        let due = secondTimer.now + UInt64(max(1, poll.order.hold.components.seconds))
        dueAt[due, default: []].insert(number)
        waiting[number] = Entry(
            poll: poll, owner: owners.enter(caller, from: address), address: address, due: due)
        poll.assumeIsolated { $0.held(as: number) }
        secondTimer.start()
    }

    /// A poll is over.
    func forget(_ poll: LongPoll, number: UInt64?) {
        service.hub.assumeIsolated { $0.detach(poll, from: poll.order.selection) }
        guard let number, let entry = waiting.removeValue(forKey: number) else { return }
        dueAt[entry.due]?.remove(number)
        owners.leave(entry.owner, from: entry.address)
    }

    /// Has the voice of a poll asked about what has come to it, in one of the next turns of the loop.
    func lookLater(_ poll: LongPoll) {
        looking.append(poll)
        if looking.count == 1 { postLook() }
    }

    private func postLook() { loop.post { self.assumeIsolated { $0.look() } } }

    /// Asks some: everything else on the loop waits meanwhile. The clock is looked at after each, for one may take a
    /// millisecond or two.
    private func look() {
        let deadline = ContinuousClock.now + service.limits.hubTurn
        var asked = 0
        var again: [LongPoll] = []
        while asked < looking.count, asked == 0 || ContinuousClock.now < deadline {
            let poll = looking[asked]
            asked += 1
            if poll.assumeIsolated({ $0.look(until: deadline) }) { again.append(poll) }
        }
        looking.removeFirst(asked)
        looking += again
        if !looking.isEmpty { postLook() }
    }

    /// Runs something on the loop; without a wait when that is where the request is handled anyway.
    private nonisolated func onLoop<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated LongPollTable) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        loop.isCurrent ? try performHere(body) : try await perform(body)
    }

    private nonisolated func performHere<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated LongPollTable) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = assumeIsolated { polls in Result { () throws(Failure) in try body(polls) } }
        return try result.get()
    }

    func perform<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated LongPollTable) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(self)
    }
}

// MARK: - The seconds, and credentials

extension LongPollTable {
    static let endedCredential = ChatError(
        .unauthorized, "the API key is unknown or has expired", slug: "credential_invalid")

    /// Answers those whose time is over. Returns whether anybody waits still.
    private func beat(_ beat: UInt64) -> Bool {
        let ended = Set(owners.ended(at: service.clock.now).map { ObjectIdentifier($0) })
        if !ended.isEmpty { recheck { ended.contains(ObjectIdentifier($0)) } }
        for number in dueAt.removeValue(forKey: beat) ?? [] {
            waiting[number]?.poll.assumeIsolated { $0.finish() }
        }
        return !waiting.isEmpty
    }

    /// Ends the polls of those whose credential no longer holds.
    private func recheck(_ isConcerned: (ConnectionOwner) -> Bool) {
        for entry in waiting.values where isConcerned(entry.owner) {
            let voice = entry.poll.order.voice
            if !voice.isInForce(entry.poll.order) {
                entry.poll.assumeIsolated { $0.fail(Self.endedCredential) }
            } else if voice.isToBeAskedAgain {
                entry.poll.assumeIsolated { $0.sendAgain() }
            }
        }
    }
}
