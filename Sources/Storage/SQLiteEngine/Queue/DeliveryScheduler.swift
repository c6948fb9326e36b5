import ChatModel
import Locking
import SQLite

/// The queue in memory: what is due when, who holds a lease, who waits for work. The file is the truth; this is what makes
/// it quick. Changes of rows arrive here after their commit, on the writer's thread and in its order.
final class DeliveryScheduler: Sendable {
    /// How long a lease lasts.
    static let leaseNanoseconds: UInt64 = 60_000_000_000
    /// The clock is looked at this often while somebody waits for a due time: a stepped clock is noticed.
    private static let clockCheck: UInt64 = 1_000_000_000

    struct Held: Sendable {
        var item: DueItem
        let fence: UInt64
        let batch: UInt64
        let since: UInt64
        var until: UInt64
        /// Whether it waits in line in the file, and goes with an attempt at the first of its chain.
        var isInLine: Bool
        /// Whether it was pulled, whatever its endpoint is by now.
        let isPulled: Bool
        var isFinishing = false
    }

    /// From when to when a lease holds, on the engine's uptime clock.
    struct Term: Sendable {
        let since: UInt64
        let until: UInt64

        init(from since: UInt64, lasting nanoseconds: UInt64) { (self.since, until) = (since, since + nanoseconds) }
        init(of held: Held) { (since, until) = (held.since, held.until) }
    }

    /// What becomes of an item once its attempt is recorded.
    enum Ending: Sendable {
        case over
        case due(UInt64)
        /// Waits for others of its chain.
        case inLine
    }

    /// What a taker gets.
    struct Grant: Sendable {
        let key: DeliveryKey
        let subscriber: SubscriberID
        let item: DueItem
        let planned: PlannedDelivery?
        let fence: UInt64
        let batch: UInt64
        /// How many that wait in line may go with it.
        var room = 0
    }

    /// How a lane stands.
    struct LaneSnapshot: Sendable {
        let settings: LaneSettings
        let isReordering: Bool
        let waiting: Int
        let leases: Int

        init(_ lane: Lane) {
            (settings, isReordering, waiting, leases) = (lane.settings, lane.isReordering, lane.waiting, lane.leases)
        }

        var state: LaneState { settings.state }
    }

    /// What somebody who takes has room for.
    struct TakeRequest: Sendable {
        /// Attempts wanted now.
        let limit: Int
        /// Attempts that may be under way at once, whoever makes them.
        var capacity = Int.max
        /// The one endpoint that is pulled; nil: those that are not.
        var lane: Int64?
        /// How long its leases last, in nanoseconds.
        var lease = DeliveryScheduler.leaseNanoseconds
    }

    struct TakeWaiter: Sendable {
        let demand: TakeRequest
        let deadline: UInt64
        let continuation: CheckedContinuation<[Grant], Never>
    }

    private let state: Lock<SchedulerState>
    private let clock: WallClock
    private let writerHandle: WriterHandle
    private let batcher = AttemptBatcher()

    /// - Parameter life: how often the file was opened: fences of an earlier life are none of this one's, so its leases are
    ///   refused, whoever comes with one (those who pull carry theirs around outside).
    init(
        lanes: [(subscriber: StoredSubscriber, waiting: Int)], life: UInt64, clock: WallClock,
        writerHandle: WriterHandle
    ) {
        var state = SchedulerState(fence: life << 40)
        for (subscriber, waiting) in lanes { state.insert(subscriber, waiting: waiting) }
        self.state = Lock(state)
        self.clock = clock
        self.writerHandle = writerHandle
    }

    // MARK: What the writer asks

    func number(of subscriber: SubscriberID) -> Int64? { state.withLock { $0.numbers[subscriber] } }

    /// The lane as the last commit left it.
    func standing(of number: Int64) -> LaneSnapshot? { state.withLock { $0.lanes[number].map(LaneSnapshot.init) } }

    /// The lanes of attempts that are to be recorded; nil where the lease was lost. The same until the writer's next commit.
    func standings(of attempts: [(lease: Lease, outcome: DeliveryOutcome)], _ keys: [DeliveryKey?]) -> [LaneSnapshot?] {
        state.withLock { state in
            zip(attempts, keys).map { attempt, key in
                guard let key, state.leases[key]?.fence == attempt.lease.fence else { return nil }
                return state.lanes[key.subscriber].map(LaneSnapshot.init)
            }
        }
    }

    func isLeased(_ key: DeliveryKey) -> Bool { state.withLock { $0.leases[key] != nil } }

    /// The endpoints whose items wait for somebody to open them, or to come for them.
    var patientLanes: [Int64] {
        state.withLock { state in
            state.lanes.filter { _, lane in
                lane.waiting > 0 && (lane.state == .paused || lane.state == .open && lane.settings.isPulled)
            }
            .map(\.key)
        }
    }

    // MARK: What the writer tells, after its commit

    func set(_ stored: StoredSubscriber) { change { $0.become(stored) } }

    func pace(_ number: Int64, concurrency: Int?, notBefore: UInt64) {
        change { state in
            state.lanes[number]?.pace(concurrency: concurrency, notBefore: notBefore)
            state.enlist(number)
        }
    }

    /// - Parameter items: those in line wait in the file alone.
    func add(_ items: [(lane: Int64, item: PlannedDelivery, isInLine: Bool)], due: UInt64) {
        change { state in
            for (number, item, isInLine) in items {
                if isInLine { state.addInLine(to: number) } else { state.add(item, due: due, to: number) }
            }
        }
    }

    func promote(_ key: DeliveryKey, due: UInt64) { change { $0.promote(key, due: due) } }

    func replace(_ number: Int64, with fetched: [DueItem], isComplete: Bool) {
        change { state in
            let free = fetched.filter { state.leases[DeliveryKey(event: $0.event, subscriber: number)] == nil }
            // Of all rows: those that are leased are no reason to believe that nothing stands behind them.
            state.lanes[number]?.replace(with: free, beyond: isComplete ? nil : fetched.last?.due)
            state.enlist(number)
        }
    }

    /// The fetch failed; the next taker tries again.
    func fetchFailed(_ number: Int64) {
        state.withLock { state in
            state.lanes[number]?.isFetching = false
            state.enlist(number)
        }
    }

    /// Rows of these lanes have changed in ways memory did not follow; `more` of them wait now.
    func forget(_ lanes: [Int64: Int]) {
        change { state in
            for (number, more) in lanes {
                state.dropFacts(of: number)
                state.lanes[number]?.forget()
                state.lanes[number]?.waiting += more
                state.enlist(number)
            }
        }
    }

    /// All that waited at a closed endpoint is dead.
    func clear(_ number: Int64) {
        change { state in
            state.dropFacts(of: number)
            state.lanes[number]?.replace(with: [], beyond: nil)
            state.lanes[number]?.waiting = 0
        }
    }

    /// Attempts are recorded: the leases are over, and an item comes back if it is due again.
    func settle(_ attempts: [(key: DeliveryKey, ending: Ending)]) {
        change { $0.settle(attempts) }
    }

    // MARK: Leases

    /// Claims the right to record attempts; no key where the lease is over or being recorded already. The endpoints are
    /// free for their next attempts from here on, so that no receiver waits for our disk.
    func beginFinish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) -> [DeliveryKey?] {
        change { state in
            attempts.map { lease, _ in
                guard let number = state.numbers[lease.delivery.subscriber] else { return nil }
                let key = DeliveryKey(event: lease.delivery.event.rawValue, subscriber: number)
                guard let held = state.leases[key], held.fence == lease.fence, !held.isFinishing else { return nil }
                state.leases[key]?.isFinishing = true
                state.stop(key, held)
                return key
            }
        }
    }

    /// Has attempts recorded whose right was claimed, together with others that end about now; without a wait if something
    /// waits in line for one of them.
    func record(_ finished: FinishedAttempts) {
        let isAwaited = state.withLock { state in
            finished.keys.contains { key in
                key.flatMap { state.lanes[$0.subscriber]?.settings.ordering } ?? .none != .none
            }
        }
        if isAwaited { return write(batcher.due(at: .max) + [finished]) }
        let (ready, callAt) = batcher.add(finished)
        write(ready)
        if let callAt { writerHandle.deadlineThread.call(at: callAt) }
    }

    /// Has everything recorded that waits for company.
    func flush() { write(batcher.due(at: .max)) }

    private func write(_ finished: [FinishedAttempts]) {
        if !finished.isEmpty {
            writerHandle.submit(FinishRequest(finished, scheduler: self, since: writerHandle.uptime()))
        }
    }

    /// The attempts could not be recorded: the leases stand as before.
    func abandonFinish(_ keys: [DeliveryKey?]) {
        state.withLock { state in
            for case let key? in keys {
                guard let held = state.leases[key], held.isFinishing else { continue }
                state.resume(key, held)
            }
        }
    }

    /// - Returns: false if the lease is over.
    func renew(_ key: DeliveryKey, fence: UInt64, for duration: Duration) -> Bool {
        let until = writerHandle.uptime() + duration.nanoseconds
        return state.withLock { state in
            guard state.leases[key]?.fence == fence else { return false }
            state.leases[key]?.until = until
            state.ends.push(LeaseEnd(until: until, key: key))
            return true
        }
    }

    /// Gives a lease back unused.
    ///
    /// - Parameter isGone: there is no such item any more.
    func giveBack(_ grant: Grant, isGone: Bool) {
        change { state in
            guard let held = state.leases[grant.key], held.fence == grant.fence else { return }
            state.release(grant.key, held, isGone: isGone)
        }
    }

    /// The same for a lease that was handed out; false for one that was lost, or whose outcome is being recorded.
    func giveBack(_ key: DeliveryKey, fence: UInt64) -> Bool {
        change { state in
            guard let held = state.leases[key], held.fence == fence, !held.isFinishing else { return false }
            state.release(key, held, isGone: false)
            return true
        }
    }

    // MARK: Takers

    /// What is due now, leased; nothing if nothing is. Waits for what must be read from the file, and no longer.
    func take(_ demand: TakeRequest) async throws(ChatError) -> [Grant] {
        while true {
            let (grants, lanes, expired) = state.withLock { state in
                state.isClosed
                    ? ([], [], []) : state.grants(demand, now: clock.now.rawValue, uptime: writerHandle.uptime())
            }
            // Waited for by who could be given them again.
            let isForUs = demand.lane.map { lane in expired.contains { $0.key.subscriber == lane } } ?? false
            guard grants.isEmpty, !lanes.isEmpty || isForUs else {
                if !expired.isEmpty { expire(expired) }
                for lane in lanes { fetch(lane) }
                return grants
            }
            if !expired.isEmpty { try await record(expired) }
            for lane in lanes {
                do throws(ChatError) {
                    try await writerHandle.run(needsTransaction: false) { (writer) throws(SQLiteFailure) in
                        try writer.fetchLane(lane, scheduler: self)
                        return .success(())
                    }
                } catch {
                    fetchFailed(lane)
                    throw error
                }
            }
        }
    }

    /// As ``take(_:)``, waiting until there is something, the time is over, the task cancelled or the queue closed.
    func take(_ demand: TakeRequest, within wait: Duration) async throws(ChatError) -> [Grant] {
        let now = try await take(demand)
        guard now.isEmpty, wait > .zero else { return now }
        let deadline = uptimeNanoseconds() + wait.nanoseconds
        let ticket = state.withLock { state in
            state.nextTaker += 1
            return state.nextTaker
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = TakeWaiter(demand: demand, deadline: deadline, continuation: continuation)
                let isOver = state.withLock { state in
                    if state.isClosed || Task.isCancelled { return true }
                    state.wait(waiter, ticket)
                    return false
                }
                if isOver { return continuation.resume(returning: []) }
                // Something may have come between the look above and this entry.
                serve(everyone: false)
            }
        } onCancel: {
            state.withLock { $0.leave(ticket, demand) }?.continuation.resume(returning: [])
        }
    }

    /// What waits in line behind granted items goes with them: leases for those that are free, in their order.
    func join(_ grant: Grant, _ followers: [DueItem]) -> [Grant] {
        state.withLock { state in
            var grants: [Grant] = []
            guard let held = state.leases[grant.key], held.fence == grant.fence else { return [] }
            for item in followers
            where state.leases[DeliveryKey(event: item.event, subscriber: grant.key.subscriber)] == nil {
                state.join(item, grant.key.subscriber, grant.batch, Term(of: held), isInLine: true, &grants)
            }
            return grants
        }
    }

    /// Hands out what is due to those who wait, sends away whose time is over, and has the clerk call again.
    ///
    /// - Parameter everyone: also those who wait for an endpoint where nothing has changed, when it is time to look at them.
    func serve(everyone: Bool = true) {
        let real = uptimeNanoseconds()
        write(batcher.due(at: real))
        let (served, fetches, expired, next) = state.withLock { state in
            let everyone = everyone && state.nextRound <= real
            let changed = everyone ? Set(state.pullers.keys) : state.woken
            var served: [(TakeWaiter, [Grant])] = []
            var fetches: [Int64] = []
            var expired: [ExpiredLease] = []
            for (ticket, waiter) in state.waiting(for: changed) {
                let (grants, lanes, ended) = state.grants(
                    waiter.demand, now: clock.now.rawValue, uptime: writerHandle.uptime())
                fetches += lanes
                expired += ended
                guard !grants.isEmpty || waiter.deadline <= real else { continue }
                state.leave(ticket, waiter.demand)
                served.append((waiter, grants))
            }
            // The others were looked at when they came, or when something changed for them.
            let next = nextCall(state, changed.union(state.woken), real)
            state.nextRound = min(everyone ? .max : state.nextRound, next ?? .max)
            return (served, fetches, expired, state.nextRound)
        }
        for (waiter, grants) in served { waiter.continuation.resume(returning: grants) }
        if !expired.isEmpty { expire(expired) }
        for lane in fetches { fetch(lane) }
        if next != .max { writerHandle.deadlineThread.call(at: next) }
        // The clerk remembers one moment: an earlier call may have covered the one that finished attempts wait for.
        if let due = batcher.nextDue { writerHandle.deadlineThread.call(at: due) }
    }

    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { (state.waiters, state.pullers) = ([:], [:]) }
            return Array(state.waiters.values) + state.pullers.values.flatMap(\.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: []) }
    }

    /// Has the writer read a lane's items from the file.
    private func fetch(_ lane: Int64) {
        writerHandle.submit(LaneFetchRequest(lane, scheduler: self, since: writerHandle.uptime()))
    }

    @discardableResult
    private func change<Result: Sendable>(_ body: (inout SchedulerState) -> Result) -> Result {
        let (result, hasTakers) = state.withLock { state in (body(&state), state.isAwaited) }
        if hasTakers { serve(everyone: false) }
        return result
    }

    /// Has leases recorded that ran out where that is an attempt.
    private func expire(_ leases: [ExpiredLease]) {
        writerHandle.submit(ExpiryRequest(leases, scheduler: self, since: writerHandle.uptime()))
    }

    private func record(_ leases: [ExpiredLease]) async throws(ChatError) {
        do throws(ChatError) {
            try await writerHandle.run { (writer) throws(SQLiteFailure) in
                try writer.expire(leases, scheduler: self)
                return .success(())
            }
        } catch {
            abandonFinish(leases.map(\.key))
            throw error
        }
    }

    /// When somebody who waits for what is pushed, or at these lanes, may be served or sent away, on the machine's uptime
    /// clock.
    private func nextCall(_ state: SchedulerState, _ lanes: Set<Int64>, _ real: UInt64) -> UInt64? {
        let lanes = lanes.filter { state.pullers[$0] != nil }
        guard let first = state.firstDeadline(at: lanes) else { return nil }
        let pulled = lanes.lazy.compactMap { state.lanes[$0]?.nextDue }.min()
        guard let due = [state.timerQueue.firstDue, pulled].lazy.compactMap(\.self).min() else {
            return state.leases.isEmpty ? first : min(first, real + Self.clockCheck)
        }
        let now = clock.now.rawValue
        let ahead = due > now ? min((due - now) &* 100, Self.clockCheck) : 0
        // Never at once: what is due already and was not handed out waits for something else than the clock.
        return min(first, real + max(ahead, 100_000_000))
    }
}

/// Reads a lane's earliest items on the writer's thread, where nothing can come between the rows and what memory makes of them.
final class LaneFetchRequest: WriteRequest {
    let since: UInt64
    private let lane: Int64
    private let scheduler: DeliveryScheduler

    init(_ lane: Int64, scheduler: DeliveryScheduler, since: UInt64) {
        self.lane = lane
        self.scheduler = scheduler
        self.since = since
    }

    var drafts: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { false }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.fetchLane(lane, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.fetchFailed(lane) }
}

/// Records leases that ran out.
final class ExpiryRequest: WriteRequest {
    let since: UInt64
    private let leases: [ExpiredLease]
    private let scheduler: DeliveryScheduler

    init(_ leases: [ExpiredLease], scheduler: DeliveryScheduler, since: UInt64) {
        self.leases = leases
        self.scheduler = scheduler
        self.since = since
    }

    var drafts: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { true }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.expire(leases, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.abandonFinish(leases.map(\.key)) }
}
