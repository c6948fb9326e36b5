import ChatModel
import Locking
import SQLite

/// The delivery queue in memory: when deliveries are due, which are leased, and which callers wait for work. The file
/// is the authority; this copy makes the queue fast. Changes of rows arrive here after their commit, in the order of
/// the commits, on the writer's thread.
final class DeliveryScheduler: Sendable {
    /// The duration of a lease (60 s).
    static let leaseNanoseconds: UInt64 = 60_000_000_000
    /// The interval at which the clock is read while a caller waits for a due time (1 s), so that a clock step is
    /// noticed.
    private static let clockCheck: UInt64 = 1_000_000_000

    struct LeaseState: Sendable {
        var item: DueItem
        let fence: UInt64
        let attempt: UInt64
        let since: UInt64
        var until: UInt64
        /// True when the item waits behind others of its chain in the file and was leased along with the first of the
        /// chain.
        var isInLine: Bool
        /// True when the item was pulled, whatever the subscriber's setting is by now.
        let isPulled: Bool
        var isFinishing = false
    }

    /// The start and end of a lease on the engine's uptime clock.
    struct Term: Sendable {
        let since: UInt64
        let until: UInt64

        init(from since: UInt64, lasting nanoseconds: UInt64) { (self.since, until) = (since, since + nanoseconds) }
        init(of held: LeaseState) { (since, until) = (held.since, held.until) }
    }

    /// The state of an item after its attempt is recorded.
    enum Ending: Sendable {
        case over
        case due(UInt64)
        /// The item waits for others of its chain.
        case inLine
    }

    /// A leased delivery, as a caller of ``lease(_:)`` gets it.
    struct Grant: Sendable {
        let key: DeliveryKey
        let subscriber: SubscriberID
        let item: DueItem
        let planned: PlannedDelivery?
        let fence: UInt64
        let attempt: UInt64
        /// The number of further items of the chain that may join this attempt.
        var freeCapacity = 0
    }

    /// The state of a lane, as the writer reads it.
    struct LaneSnapshot: Sendable {
        let settings: LaneSettings
        let isReordering: Bool
        let unfinished: Int
        let leaseCount: Int

        init(_ lane: Lane) {
            (settings, isReordering) = (lane.settings, lane.isReordering)
            (unfinished, leaseCount) = (lane.unfinished, lane.leaseCount)
        }

        var state: LaneState { settings.state }
    }

    /// The capacity of a caller that requests work.
    struct LeaseRequest: Sendable {
        /// The number of attempts wanted now.
        let limit: Int
        /// The maximum number of attempts under way at once, over all callers.
        var capacity = Int.max
        /// The one pulled subscription; nil stands for all webhooks, which are pushed.
        var lane: Int64?
        /// The duration of the leases in nanoseconds.
        var duration = DeliveryScheduler.leaseNanoseconds
    }

    struct LeaseWaiter: Sendable {
        let request: LeaseRequest
        let deadline: UInt64
        let continuation: CheckedContinuation<[Grant], Never>
    }

    private let state: Lock<SchedulerState>
    private let clock: WallClock
    private let writerHandle: WriterHandle
    private let batcher = AttemptBatcher()

    /// - Parameter life: the number of openings of the file. Fences of earlier openings never match those of this one,
    ///   so leases from an earlier opening are rejected. Consumers that pull keep leases outside the process.
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

    // MARK: Questions of the writer

    func number(of subscriber: SubscriberID) -> Int64? { state.withLock { $0.numbers[subscriber] } }

    /// The lane as the last commit left it.
    func snapshot(of number: Int64) -> LaneSnapshot? { state.withLock { $0.lanes[number].map(LaneSnapshot.init) } }

    /// The lanes of attempts that are about to be recorded; nil where the lease was lost. The result does not change
    /// until the writer's next commit.
    func snapshots(of attempts: [(lease: Lease, outcome: DeliveryOutcome)], _ keys: [DeliveryKey?]) -> [LaneSnapshot?] {
        state.withLock { state in
            zip(attempts, keys).map { attempt, key in
                guard let key, state.leases[key]?.fence == attempt.lease.fence else { return nil }
                return state.lanes[key.subscriber].map(LaneSnapshot.init)
            }
        }
    }

    func isLeased(_ key: DeliveryKey) -> Bool { state.withLock { $0.leases[key] != nil } }

    /// The subscribers whose deliveries wait until the subscriber is opened or until a consumer pulls them.
    var patientLanes: [Int64] {
        state.withLock { state in
            state.lanes.filter { _, lane in
                lane.unfinished > 0 && (lane.state == .paused || lane.state == .open && lane.settings.isPulled)
            }
            .map(\.key)
        }
    }

    // MARK: Changes from the writer, after its commit

    func set(_ stored: StoredSubscriber) { change { $0.update(stored) } }

    func pace(_ number: Int64, concurrency: Int?, notBefore: UInt64) {
        change { state in
            state.lanes[number]?.pace(concurrency: concurrency, notBefore: notBefore)
            state.schedule(number)
        }
    }

    /// Adds planned items.
    ///
    /// - Parameter items: items in line are kept in the file only; memory counts them.
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
            // Uses the bound of all fetched rows: leased rows do not mean that no further rows follow.
            state.lanes[number]?.replace(with: free, beyond: isComplete ? nil : fetched.last?.due)
            state.schedule(number)
        }
    }

    /// Records that the fetch failed; the next caller that requests work starts another.
    func fetchFailed(_ number: Int64) {
        state.withLock { state in
            state.lanes[number]?.isFetching = false
            state.schedule(number)
        }
    }

    /// Discards the items of these lanes in memory, because rows changed that memory did not follow. Each value is the
    /// change in the number of waiting items.
    func forget(_ lanes: [Int64: Int]) {
        change { state in
            for (number, more) in lanes {
                state.dropPlanned(of: number)
                state.lanes[number]?.forget()
                state.lanes[number]?.unfinished += more
                state.schedule(number)
            }
        }
    }

    /// Removes the items of a closed subscriber, all of which are dead.
    func clear(_ number: Int64) {
        change { state in
            state.dropPlanned(of: number)
            state.lanes[number]?.replace(with: [], beyond: nil)
            state.lanes[number]?.unfinished = 0
        }
    }

    /// Ends the leases of recorded attempts and adds the items that are due again.
    func complete(_ attempts: [(key: DeliveryKey, ending: Ending)]) {
        change { $0.complete(attempts) }
    }

    // MARK: Leases

    /// Claims the right to record attempts. The key is nil when the lease is over or is already being recorded. The
    /// subscribers may begin their next attempts at once, so that no receiver waits for this store's disk.
    func claimRecording(of attempts: [(lease: Lease, outcome: DeliveryOutcome)]) -> [DeliveryKey?] {
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

    /// Records attempts whose right was claimed, together with others that end at about the same time. They are written
    /// without waiting when another item is in line behind one of them.
    func enqueueRecording(_ finished: FinishedAttempts) {
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

    /// Writes all attempts that wait to be recorded together.
    func flush() { write(batcher.due(at: .max)) }

    private func write(_ finished: [FinishedAttempts]) {
        if !finished.isEmpty {
            writerHandle.submit(FinishRequest(finished, scheduler: self, since: writerHandle.uptime()))
        }
    }

    /// Restores the leases of attempts that could not be recorded.
    func cancelRecording(of keys: [DeliveryKey?]) {
        state.withLock { state in
            for case let key? in keys {
                guard let held = state.leases[key], held.isFinishing else { continue }
                state.resume(key, held)
            }
        }
    }

    /// Extends a lease.
    ///
    /// - Returns: false when the lease is over.
    func renew(_ key: DeliveryKey, fence: UInt64, for duration: Duration) -> Bool {
        let until = writerHandle.uptime() + duration.nanoseconds
        return state.withLock { state in
            guard state.leases[key]?.fence == fence else { return false }
            state.leases[key]?.until = until
            state.ends.push(LeaseEnd(until: until, key: key))
            return true
        }
    }

    /// Ends an unused lease.
    ///
    /// - Parameter isGone: true when the item no longer exists.
    func release(_ grant: Grant, isGone: Bool) {
        change { state in
            guard let held = state.leases[grant.key], held.fence == grant.fence else { return }
            state.release(grant.key, held, isGone: isGone)
        }
    }

    /// Ends a lease and makes its item due again. False when it was lost, or its outcome is being recorded.
    func release(_ key: DeliveryKey, fence: UInt64) -> Bool {
        change { state in
            guard let held = state.leases[key], held.fence == fence, !held.isFinishing else { return false }
            state.release(key, held, isGone: false)
            return true
        }
    }

    // MARK: Leasing

    /// Leases the items that are due now; returns none when nothing is due. Waits only while items must be read from
    /// the file.
    func lease(_ request: LeaseRequest) async throws(ChatError) -> [Grant] {
        while true {
            let (grants, lanes, expired) = state.withLock { state in
                state.isClosed
                    ? ([], [], []) : state.grants(request, now: clock.now.rawValue, uptime: writerHandle.uptime())
            }
            // Only a caller that could receive these items again waits until the expired leases are recorded.
            let isForUs = request.lane.map { lane in expired.contains { $0.key.subscriber == lane } } ?? false
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

    /// As ``lease(_:)``, but waits until an item is due, the time is over, the task is cancelled or the queue is closed.
    func lease(_ request: LeaseRequest, within wait: Duration) async throws(ChatError) -> [Grant] {
        let now = try await lease(request)
        guard now.isEmpty, wait > .zero else { return now }
        let deadline = MonotonicTime.now.nanoseconds + wait.nanoseconds
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = LeaseWaiter(request: request, deadline: deadline, continuation: continuation)
                let isOver = state.withLock { state in
                    if state.isClosed || Task.isCancelled { return true }
                    state.wait(waiter, ticket)
                    return false
                }
                if isOver { return continuation.resume(returning: []) }
                // An item may have become due between the check above and the registration of this waiter.
                serve(everyone: false)
            }
        } onCancel: {
            state.withLock { $0.leave(ticket, request) }?.continuation.resume(returning: [])
        }
    }

    /// Leases the free items that wait in line behind granted items, in order, so that they join the attempt.
    func join(_ grant: Grant, _ followers: [DueItem]) -> [Grant] {
        state.withLock { state in
            var grants: [Grant] = []
            guard let held = state.leases[grant.key], held.fence == grant.fence else { return [] }
            for item in followers
            where state.leases[DeliveryKey(event: item.event, subscriber: grant.key.subscriber)] == nil {
                state.join(item, grant.key.subscriber, grant.attempt, Term(of: held), isInLine: true, &grants)
            }
            return grants
        }
    }

    /// Grants due items to the waiting callers, ends waits whose time is over, and schedules the next call of the
    /// deadline thread.
    ///
    /// - Parameter everyone: also serves callers that wait at a pulled subscription where nothing has changed, when it
    ///   is time to check them.
    func serve(everyone: Bool = true) {
        let real = MonotonicTime.now.nanoseconds
        write(batcher.due(at: real))
        let (served, fetches, expired, next) = state.withLock { state in
            let everyone = everyone && state.nextRound <= real
            let changed = everyone ? Set(state.pullers.keys) : state.woken
            var served: [(LeaseWaiter, [Grant])] = []
            var fetches: [Int64] = []
            var expired: [ExpiredLease] = []
            for (ticket, waiter) in state.waiting(for: changed) {
                let (grants, lanes, ended) = state.grants(
                    waiter.request, now: clock.now.rawValue, uptime: writerHandle.uptime())
                fetches += lanes
                expired += ended
                guard !grants.isEmpty || waiter.deadline <= real else { continue }
                state.leave(ticket, waiter.request)
                served.append((waiter, grants))
            }
            // The others were checked when they began to wait, or when something changed for them.
            let next = nextCall(state, changed.union(state.woken), real)
            state.nextRound = min(everyone ? .max : state.nextRound, next ?? .max)
            return (served, fetches, expired, state.nextRound)
        }
        for (waiter, grants) in served { waiter.continuation.resume(returning: grants) }
        if !expired.isEmpty { expire(expired) }
        for lane in fetches { fetch(lane) }
        if next != .max { writerHandle.deadlineThread.call(at: next) }
        // The deadline thread remembers one moment only, and an earlier call may have replaced the one for finished
        // attempts.
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

    /// Asks the writer to read a lane's items from the file.
    private func fetch(_ lane: Int64) {
        writerHandle.submit(LaneFetchRequest(lane, scheduler: self, since: writerHandle.uptime()))
    }

    @discardableResult
    private func change<Result: Sendable>(_ body: (inout SchedulerState) -> Result) -> Result {
        let (result, hasWaiters) = state.withLock { state in (body(&state), state.isAwaited) }
        if hasWaiters { serve(everyone: false) }
        return result
    }

    /// Records expired leases that count as attempts.
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
            cancelRecording(of: leases.map(\.key))
            throw error
        }
    }

    /// The time on the machine's uptime clock at which a caller may have to be served or its wait ended. Covers callers
    /// that wait for pushed work and those that wait at these lanes.
    private func nextCall(_ state: SchedulerState, _ lanes: Set<Int64>, _ real: UInt64) -> UInt64? {
        let lanes = lanes.filter { state.pullers[$0] != nil }
        guard let first = state.firstDeadline(at: lanes) else { return nil }
        let pulled = lanes.lazy.compactMap { state.lanes[$0]?.nextDue }.min()
        guard let due = [state.timerQueue.firstDue, pulled].lazy.compactMap(\.self).min() else {
            return state.leases.isEmpty ? first : min(first, real + Self.clockCheck)
        }
        let now = clock.now.rawValue
        let ahead = due > now ? min((due - now) &* 100, Self.clockCheck) : 0
        // Never immediately: an item that is due but was not granted waits for something other than the clock.
        return min(first, real + max(ahead, 100_000_000))
    }
}

/// A request that reads a lane's earliest items on the writer's thread, where no commit can come between reading the
/// rows and updating memory.
final class LaneFetchRequest: WriteRequest {
    let since: UInt64
    private let lane: Int64
    private let scheduler: DeliveryScheduler

    init(_ lane: Int64, scheduler: DeliveryScheduler, since: UInt64) {
        self.lane = lane
        self.scheduler = scheduler
        self.since = since
    }

    var draftCount: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { false }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.fetchLane(lane, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.fetchFailed(lane) }
}

/// A request that records expired leases.
final class ExpiryRequest: WriteRequest {
    let since: UInt64
    private let leases: [ExpiredLease]
    private let scheduler: DeliveryScheduler

    init(_ leases: [ExpiredLease], scheduler: DeliveryScheduler, since: UInt64) {
        self.leases = leases
        self.scheduler = scheduler
        self.since = since
    }

    var draftCount: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { true }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.expire(leases, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.cancelRecording(of: leases.map(\.key)) }
}
