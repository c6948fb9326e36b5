package import ChatModel
import Locking

/// The delivery queue in memory: the due times of deliveries, the leased deliveries, and the callers that wait for
/// deliveries. A lease is the exclusive right to attempt a delivery until a deadline. The database contains the
/// authoritative state; this copy makes the queue fast. The ``QueueStorage`` reports changes of rows after each commit,
/// in the order of the commits.
package final class DeliveryScheduler: Sendable {
    /// The duration of a lease (60 s).
    package static let leaseNanoseconds: UInt64 = 60_000_000_000
    /// The interval (1 s) at which the scheduler reads the clock while a caller waits, to detect changes of the clock.
    private static let clockCheck: UInt64 = 1_000_000_000

    struct LeaseState: Sendable {
        var item: DueItem
        let fence: UInt64
        let attempt: UInt64
        let since: UInt64
        var until: UInt64
        /// True when the delivery waits for earlier deliveries of its chain and was leased together with the first
        /// delivery of the chain. A chain is a sequence of deliveries that must be delivered in order.
        var isInLine: Bool
        /// True when the subscriber was a pulled subscription at the start of the lease, whatever its settings are now.
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

    /// The state of a delivery after its attempt is recorded.
    package enum Ending: Sendable {
        case over
        case due(UInt64)
        /// The delivery waits for earlier deliveries, which must be delivered first.
        case inLine
    }

    /// A leased delivery, as ``lease(_:)`` returns it.
    package struct Grant: Sendable {
        package let key: DeliveryKey
        package let subscriber: SubscriberID
        package let item: DueItem
        package let planned: PlannedDelivery?
        package let fence: UInt64
        package let attempt: UInt64
        /// The number of further deliveries, in the required order, that may be part of this attempt.
        package var freeCapacity = 0
    }

    /// A copy of the state of a lane (the queue of one subscriber), which the storage reads.
    package struct LaneSnapshot: Sendable {
        package let settings: LaneSettings
        package let isReordering: Bool
        package let unfinished: Int
        package let leaseCount: Int

        init(_ lane: Lane) {
            (settings, isReordering) = (lane.settings, lane.isReordering)
            (unfinished, leaseCount) = (lane.unfinished, lane.leaseCount)
        }

        package var state: LaneState { settings.state }
    }

    /// A caller's request for deliveries to attempt.
    package struct LeaseRequest: Sendable {
        /// The maximum number of attempts to begin with this request.
        package let limit: Int
        /// The maximum number of concurrent attempts of all callers together.
        package var capacity = Int.max
        /// The number of the pulled subscription whose deliveries are requested; nil requests deliveries of all
        /// webhooks.
        package var lane: Int64?
        /// The duration of the leases in nanoseconds.
        package var duration = DeliveryScheduler.leaseNanoseconds

        /// Creates a request for deliveries of all webhooks.
        package init(limit: Int, capacity: Int = .max) {
            self.limit = limit
            self.capacity = capacity
        }

        /// Creates a request for deliveries of one pulled subscription.
        package init(limit: Int, lane: Int64, duration: UInt64) {
            self.limit = limit
            self.lane = lane
            self.duration = duration
        }
    }

    struct LeaseWaiter: Sendable {
        let request: LeaseRequest
        let deadline: UInt64
        let continuation: CheckedContinuation<[Grant], Never>
    }

    let state: Lock<SchedulerState>
    let storage: any QueueStorage
    let clock: WallClock
    private let batcher = AttemptBatcher()

    /// Creates the queue. `life` is the number of times that the database was opened. Each lease has a number (`fence`)
    /// that includes `life`, so a lease from an earlier opening is rejected. Consumers of pulled subscriptions may
    /// still have such leases, because they store leases outside the process.
    package init(
        lanes: [(subscriber: StoredSubscriber, waiting: Int)], life: UInt64, clock: WallClock,
        storage: any QueueStorage
    ) {
        var state = SchedulerState(fence: life << 40)
        for (subscriber, waiting) in lanes { state.insert(subscriber, waiting: waiting) }
        self.state = Lock(state)
        self.clock = clock
        self.storage = storage
    }

    /// The number of a subscriber's earliest due deliveries that the storage reads at a time, plus the number of leased
    /// deliveries.
    package static let fetchedDeliveries = Lane.capacity

    // MARK: Queries by the storage

    package func number(of subscriber: SubscriberID) -> Int64? { state.withLock { $0.numbers[subscriber] } }

    /// Returns the state of a subscriber's lane (queue) after the last commit; nil for an unknown number.
    package func snapshot(of number: Int64) -> LaneSnapshot? {
        state.withLock { $0.lanes[number].map(LaneSnapshot.init) }
    }

    /// Returns, for each attempt that is about to be recorded, the state of its subscriber's lane (queue); nil for an
    /// attempt whose lease was lost. The result stays valid until the storage's next commit.
    package func snapshots(
        of attempts: [(lease: Lease, outcome: DeliveryOutcome)], _ keys: [DeliveryKey?]
    ) -> [LaneSnapshot?] {
        state.withLock { state in
            zip(attempts, keys).map { attempt, key in
                guard let key, state.leases[key]?.fence == attempt.lease.fence else { return nil }
                return state.lanes[key.subscriber].map(LaneSnapshot.init)
            }
        }
    }

    package func isLeased(_ key: DeliveryKey) -> Bool { state.withLock { $0.leases[key] != nil } }

    /// The numbers of two kinds of subscribers with unfinished deliveries: paused subscribers, and open subscriptions,
    /// whose deliveries wait until a consumer pulls them.
    package var patientLanes: [Int64] {
        state.withLock { state in
            state.lanes.filter { _, lane in
                lane.unfinished > 0 && (lane.state == .paused || lane.state == .open && lane.settings.isPulled)
            }
            .map(\.key)
        }
    }

    // MARK: Changes from the storage, after its commit

    package func set(_ stored: StoredSubscriber) { change { $0.update(stored) } }

    package func pace(_ number: Int64, concurrency: Int?, notBefore: UInt64) {
        change { state in
            state.lanes[number]?.pace(concurrency: concurrency, notBefore: notBefore)
            state.schedule(number)
        }
    }

    /// Adds new deliveries from the planner.
    ///
    /// - Parameter items: the deliveries. A delivery with `isInLine` waits for earlier deliveries of its chain. It is
    ///   stored only in the database; in memory, it is only counted.
    package func add(_ items: [(subscriber: Int64, item: PlannedDelivery, isInLine: Bool)], due: UInt64) {
        change { state in
            for (number, item, isInLine) in items {
                if isInLine { state.addInLine(to: number) } else { state.add(item, due: due, to: number) }
            }
        }
    }

    package func promote(_ key: DeliveryKey, due: UInt64) { change { $0.promote(key, due: due) } }

    package func replace(_ number: Int64, with fetched: [DueItem], isComplete: Bool) {
        change { state in
            let free = fetched.filter { state.leases[DeliveryKey(event: $0.event, subscriber: number)] == nil }
            // The database may contain further rows after the last fetched row, even if that row is leased. The due
            // time of that row is therefore passed as `beyond`.
            state.lanes[number]?.replace(with: free, beyond: isComplete ? nil : fetched.last?.due)
            state.schedule(number)
        }
    }

    /// Records that reading deliveries from the database failed. The next request for deliveries starts another read.
    package func fetchFailed(_ number: Int64) {
        state.withLock { state in
            state.lanes[number]?.isFetching = false
            state.schedule(number)
        }
    }

    /// Discards deliveries in memory whose rows in the database have changed. They are read again when needed. `lanes`
    /// contains, by subscriber number, the amount to add to the number of unfinished deliveries.
    package func forget(_ lanes: [Int64: Int]) {
        change { state in
            for (number, more) in lanes {
                state.dropPlanned(of: number)
                state.lanes[number]?.forget()
                state.lanes[number]?.unfinished += more
                state.schedule(number)
            }
        }
    }

    /// Removes the deliveries of a closed subscriber from memory. All of them are dead.
    package func clear(_ number: Int64) {
        change { state in
            state.dropPlanned(of: number)
            state.lanes[number]?.replace(with: [], beyond: nil)
            state.lanes[number]?.unfinished = 0
        }
    }

    /// Ends the leases of recorded attempts, and adds the deliveries that are due again.
    package func complete(_ attempts: [(key: DeliveryKey, ending: Ending)]) {
        change { $0.complete(attempts) }
    }

    // MARK: Leases

    /// Claims the exclusive right to record the outcome of each attempt. The result is nil for an attempt whose lease
    /// is over or whose outcome is already being recorded. The next attempts of the subscribers may begin immediately,
    /// so that no receiver waits for this store's disk.
    package func claimRecording(of attempts: [(lease: Lease, outcome: DeliveryOutcome)]) -> [DeliveryKey?] {
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

    /// Records attempts that were claimed with ``claimRecording(of:)``. They are usually written together with other
    /// attempts that end at about the same time. Attempts of a subscriber with an ordering are written immediately,
    /// because further deliveries may wait for them.
    func enqueueRecording(_ finished: FinishedAttempts) {
        let isAwaited = state.withLock { state in
            finished.keys.contains { key in
                key.flatMap { state.lanes[$0.subscriber]?.settings.ordering } ?? .none != .none
            }
        }
        if isAwaited { return write(batcher.due(at: .max) + [finished]) }
        let (ready, callAt) = batcher.add(finished)
        write(ready)
        if let callAt { storage.callScheduler(at: callAt) }
    }

    /// Writes all collected attempts to the database without waiting for further attempts.
    package func flush() { write(batcher.due(at: .max)) }

    private func write(_ finished: [FinishedAttempts]) {
        if !finished.isEmpty { storage.record(finished, scheduler: self) }
    }

    /// Restores the leases of attempts that could not be recorded.
    package func cancelRecording(of keys: [DeliveryKey?]) {
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
        let until = storage.uptime() + duration.nanoseconds
        return state.withLock { state in
            guard state.leases[key]?.fence == fence else { return false }
            state.leases[key]?.until = until
            state.ends.push(LeaseEnd(until: until, key: key))
            return true
        }
    }

    /// Ends a lease without an attempt.
    ///
    /// - Parameter isGone: true when the delivery no longer exists.
    func release(_ grant: Grant, isGone: Bool) {
        change { state in
            guard let held = state.leases[grant.key], held.fence == grant.fence else { return }
            state.release(grant.key, held, isGone: isGone)
        }
    }

    /// Ends a lease and makes its delivery due again. Returns false when the lease was lost or its outcome is being
    /// recorded.
    func release(_ key: DeliveryKey, fence: UInt64) -> Bool {
        change { state in
            guard let held = state.leases[key], held.fence == fence, !held.isFinishing else { return false }
            state.release(key, held, isGone: false)
            return true
        }
    }

    // MARK: Leasing

    /// Leases the deliveries that are due now; returns none when nothing is due. Waits only while deliveries are read
    /// from the database.
    func lease(_ request: LeaseRequest) async throws(ChatError) -> [Grant] {
        while true {
            let (grants, lanes, expired) = state.withLock { state in
                state.isClosed
                    ? ([], [], []) : state.grants(request, now: clock.now.rawValue, uptime: storage.uptime())
            }
            // Waits until the expired leases are recorded, but only if this caller can receive their deliveries again.
            let isForUs = request.lane.map { lane in expired.contains { $0.key.subscriber == lane } } ?? false
            guard grants.isEmpty, !lanes.isEmpty || isForUs else {
                if !expired.isEmpty { expire(expired) }
                for lane in lanes { fetch(lane) }
                return grants
            }
            if !expired.isEmpty { try await record(expired) }
            for lane in lanes {
                do throws(ChatError) {
                    try await storage.fetch(lane, scheduler: self)
                } catch {
                    fetchFailed(lane)
                    throw error
                }
            }
        }
    }

    /// Leases deliveries like ``lease(_:)``. If none is due, waits until a delivery is due, the time is over, the task
    /// is cancelled or the queue is closed.
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
                // A delivery may have become due between the check above and the registration of this waiter.
                serve(everyone: false)
            }
        } onCancel: {
            state.withLock { $0.leave(ticket, request) }?.continuation.resume(returning: [])
        }
    }

    /// Leases the deliveries that follow a leased delivery in the required order, as part of the same attempt.
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

    /// Leases due deliveries to the waiting callers, ends waits whose time is over, and schedules the next call of the
    /// deadline thread.
    ///
    /// - Parameter everyone: false to skip callers at unchanged pulled subscriptions, even after the time `nextRound`.
    package func serve(everyone: Bool = true) {
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
                    waiter.request, now: clock.now.rawValue, uptime: storage.uptime())
                fetches += lanes
                expired += ended
                guard !grants.isEmpty || waiter.deadline <= real else { continue }
                state.leave(ticket, waiter.request)
                served.append((waiter, grants))
            }
            // Other lanes need no check. They were checked when a caller began to wait, or when they last changed.
            let next = nextCall(state, changed.union(state.woken), real)
            // Only a round over all callers sets `nextRound` anew. Any other call may only make it earlier.
            state.nextRound = min(everyone ? .max : state.nextRound, next ?? .max)
            return (served, fetches, expired, state.nextRound)
        }
        for (waiter, grants) in served { waiter.continuation.resume(returning: grants) }
        if !expired.isEmpty { expire(expired) }
        for lane in fetches { fetch(lane) }
        if next != .max { storage.callScheduler(at: next) }
        // The deadline thread stores only one time, and an earlier call may have replaced the time for the collected
        // attempts.
        if let due = batcher.nextDue { storage.callScheduler(at: due) }
    }

    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { (state.waiters, state.pullers) = ([:], [:]) }
            return Array(state.waiters.values) + state.pullers.values.flatMap(\.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: []) }
    }

    /// Requests the deliveries of a lane (a subscriber's queue) from the database.
    private func fetch(_ lane: Int64) { storage.requestFetch(of: lane, scheduler: self) }

    @discardableResult
    func change<Result: Sendable>(_ body: (inout SchedulerState) -> Result) -> Result {
        let (result, hasWaiters) = state.withLock { state in (body(&state), state.isAwaited) }
        if hasWaiters { serve(everyone: false) }
        return result
    }

    /// Requests that expired leases are recorded as failed attempts.
    private func expire(_ leases: [ExpiredLease]) { storage.requestExpiry(of: leases, scheduler: self) }

    private func record(_ leases: [ExpiredLease]) async throws(ChatError) {
        do throws(ChatError) {
            try await storage.expire(leases, scheduler: self)
        } catch {
            cancelRecording(of: leases.map(\.key))
            throw error
        }
    }

    /// Returns the next uptime at which a waiting caller must be checked; nil when none waits. Ignores callers at
    /// pulled subscriptions other than `lanes`.
    private func nextCall(_ state: SchedulerState, _ lanes: Set<Int64>, _ real: UInt64) -> UInt64? {
        let lanes = lanes.filter { state.pullers[$0] != nil }
        guard let first = state.firstDeadline(at: lanes) else { return nil }
        let pulled = lanes.lazy.compactMap { state.lanes[$0]?.nextDue }.min()
        guard let due = [state.timerQueue.firstDue, pulled].lazy.compactMap(\.self).min() else {
            return state.leases.isEmpty ? first : min(first, real + Self.clockCheck)
        }
        let now = clock.now.rawValue
        let ahead = due > now ? min((due - now) &* 100, Self.clockCheck) : 0
        // The delay is at least 100 ms, because a delivery that is due but was not leased waits for something other
        // than the clock.
        return min(first, real + max(ahead, 100_000_000))
    }
}
