import ChatModel
import Locking
import SQLite

/// The queue in memory: what is due when, who holds a lease, who waits for work. The file is the truth; this is what makes
/// it quick. Changes of rows arrive here after their commit, on the writer's thread and in its order.
final class Board: Sendable {
    /// How long a lease lasts.
    static let leaseSeconds: UInt64 = 60
    /// The clock is looked at this often while somebody waits for a due time: a stepped clock is noticed.
    private static let clockCheck: UInt64 = 1_000_000_000

    struct Held: Sendable {
        let item: DueItem
        let fence: UInt64
        var until: UInt64
        var isFinishing = false
    }

    /// What a taker gets.
    struct Grant: Sendable {
        let key: DeliveryKey
        let endpoint: EndpointID
        let item: DueItem
        let planned: PlannedDelivery?
        let fence: UInt64
    }

    /// How a lane stands.
    struct Standing: Sendable {
        let state: LaneState
        let waiting: Int
        let leased: Int
    }

    /// What somebody who takes has room for.
    struct Demand: Sendable {
        /// Leases wanted now.
        let limit: Int
        /// Leases that may be out at once, whoever holds them.
        let capacity: Int
    }

    struct Taker: Sendable {
        let demand: Demand
        let deadline: UInt64
        let continuation: CheckedContinuation<[Grant], Never>
    }

    private let state: Lock<BoardState>
    private let clock: WallClock
    private let writing: Writing
    private let gathering = Gathering()

    /// - Parameter firstFence: above every fence given out before, so that leases of an earlier life are refused.
    init(
        lanes: [(number: Int64, lane: Lane)], firstFence: UInt64, clock: WallClock, writing: Writing
    ) {
        var state = BoardState(fence: firstFence)
        for (number, lane) in lanes {
            state.lanes[number] = lane
            state.numbers[lane.endpoint] = number
            state.enlist(number)
        }
        self.state = Lock(state)
        self.clock = clock
        self.writing = writing
    }

    // MARK: What the writer asks

    func number(of endpoint: EndpointID) -> Int64? { state.withLock { $0.numbers[endpoint] } }

    /// The lane as the last commit left it.
    func standing(of number: Int64) -> Standing? {
        state.withLock { state in
            // No copy of the lane leaves the lock: its items would be copied at the next change.
            guard let laneState = state.lanes[number]?.state, let waiting = state.lanes[number]?.waiting,
                let leased = state.lanes[number]?.leased
            else { return nil }
            return Standing(state: laneState, waiting: waiting, leased: leased)
        }
    }

    func isLeased(_ key: DeliveryKey) -> Bool { state.withLock { $0.leases[key] != nil } }

    // MARK: What the writer tells, after its commit

    func set(_ number: Int64, _ endpoint: EndpointID, _ laneState: LaneState, concurrency: Int) {
        change { state in
            state.numbers[endpoint] = number
            state.lanes[number, default: Lane(endpoint: endpoint, state: laneState, concurrency: concurrency)]
                .become(laneState, concurrency: concurrency)
            state.enlist(number)
        }
    }

    func add(_ items: [(lane: Int64, item: PlannedDelivery)], due: UInt64) {
        change { state in
            for (number, item) in items { state.add(item, due: due, to: number) }
        }
    }

    func replace(_ number: Int64, with fetched: [DueItem], isComplete: Bool) {
        change { state in
            let free = fetched.filter { state.leases[DeliveryKey(event: $0.event, endpoint: number)] == nil }
            state.lanes[number]?.replace(with: free, isComplete: isComplete)
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
            state.lanes[number]?.replace(with: [], isComplete: true)
            state.lanes[number]?.waiting = 0
        }
    }

    /// Attempts are recorded: the leases are over, and an item comes back if it is due again.
    func settle(_ attempts: [(key: DeliveryKey, retryAt: UInt64?)]) {
        change { state in
            for (key, due) in attempts {
                guard state.leases.removeValue(forKey: key) != nil else { continue }
                state.lanes[key.endpoint]?.settle(key.event, retryAt: due)
                state.enlist(key.endpoint)
            }
        }
    }

    // MARK: Leases

    /// Claims the right to record attempts; no key where the lease is over or being recorded already. The endpoints are
    /// free for their next attempts from here on, so that no receiver waits for our disk.
    func beginFinish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) -> [DeliveryKey?] {
        change { state in
            attempts.map { lease, _ in
                guard let number = state.numbers[lease.delivery.endpoint] else { return nil }
                let key = DeliveryKey(event: lease.delivery.event.rawValue, endpoint: number)
                guard let held = state.leases[key], held.fence == lease.fence, !held.isFinishing else { return nil }
                state.leases[key]?.isFinishing = true
                state.count(-1, number)
                state.enlist(number)
                return key
            }
        }
    }

    /// Has attempts recorded whose right was claimed, together with others that end about now.
    func record(_ finished: FinishedAttempts) {
        let (ready, callAt) = gathering.add(finished)
        write(ready)
        if let callAt { writing.clerk.call(at: callAt) }
    }

    /// Has everything recorded that waits for company.
    func flush() { write(gathering.due(at: .max)) }

    private func write(_ finished: [FinishedAttempts]) {
        if !finished.isEmpty { writing.submit(FinishWish(finished, board: self, since: writing.uptime())) }
    }

    /// The attempts could not be recorded: the leases stand as before.
    func abandonFinish(_ keys: [DeliveryKey?]) {
        state.withLock { state in
            for case let key? in keys {
                guard let held = state.leases[key], held.isFinishing else { continue }
                state.leases[key]?.isFinishing = false
                state.count(1, key.endpoint)
                state.ends.append((held.until, key))
            }
        }
    }

    /// - Returns: false if the lease is over.
    func renew(_ key: DeliveryKey, fence: UInt64, for duration: Duration) -> Bool {
        let until = writing.uptime() + duration.nanoseconds
        return state.withLock { state in
            guard state.leases[key]?.fence == fence else { return false }
            state.leases[key]?.until = until
            state.ends.append((until, key))
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

    // MARK: Takers

    /// What is due now, leased; nothing if nothing is. Waits for what must be read from the file, and no longer.
    func take(_ demand: Demand) async throws(ChatError) -> [Grant] {
        while true {
            let (grants, lanes) = state.withLock { state in
                state.isClosed
                    ? ([], []) : state.grant(demand, now: clock.now.rawValue, uptime: writing.uptime())
            }
            guard grants.isEmpty, !lanes.isEmpty else {
                for lane in lanes { fetch(lane) }
                return grants
            }
            for lane in lanes {
                do throws(ChatError) {
                    try await writing.run(needsTransaction: false) { (writer) throws(SQLiteFailure) in
                        try writer.fetchLane(lane, board: self)
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
    func take(_ demand: Demand, within wait: Duration) async throws(ChatError) -> [Grant] {
        let now = try await take(demand)
        guard now.isEmpty, wait > .zero else { return now }
        let deadline = uptimeNanoseconds() + wait.nanoseconds
        let ticket = state.withLock { state in
            state.nextTaker += 1
            return state.nextTaker
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isClosed || Task.isCancelled { return true }
                    state.takers[ticket] = Taker(demand: demand, deadline: deadline, continuation: continuation)
                    return false
                }
                if isOver { return continuation.resume(returning: []) }
                // Something may have come between the look above and this entry.
                serve()
            }
        } onCancel: {
            state.withLock { $0.takers.removeValue(forKey: ticket) }?.continuation.resume(returning: [])
        }
    }

    /// Hands out what is due to those who wait, sends away whose time is over, and has the clerk call again.
    func serve() {
        let real = uptimeNanoseconds()
        write(gathering.due(at: real))
        let (served, fetches, next) = state.withLock { state in
            var served: [(Taker, [Grant])] = []
            var fetches: [Int64] = []
            for (ticket, taker) in state.takers {
                let (grants, lanes) = state.grant(taker.demand, now: clock.now.rawValue, uptime: writing.uptime())
                fetches += lanes
                guard !grants.isEmpty || taker.deadline <= real else { continue }
                state.takers[ticket] = nil
                served.append((taker, grants))
            }
            return (served, fetches, nextCall(state, real))
        }
        for (taker, grants) in served { taker.continuation.resume(returning: grants) }
        for lane in fetches { fetch(lane) }
        if let next { writing.clerk.call(at: next) }
    }

    func close() {
        let takers = state.withLock { state in
            state.isClosed = true
            defer { state.takers = [:] }
            return Array(state.takers.values)
        }
        for taker in takers { taker.continuation.resume(returning: []) }
    }

    /// Has the writer read a lane's items from the file.
    private func fetch(_ lane: Int64) { writing.submit(FetchWish(lane, board: self, since: writing.uptime())) }

    @discardableResult
    private func change<Result: Sendable>(_ body: (inout BoardState) -> Result) -> Result {
        let (result, hasTakers) = state.withLock { state in (body(&state), !state.takers.isEmpty) }
        if hasTakers { serve() }
        return result
    }

    /// When somebody who waits may be served or sent away, on the machine's uptime clock.
    private func nextCall(_ state: BoardState, _ real: UInt64) -> UInt64? {
        guard let first = state.takers.values.map(\.deadline).min() else { return nil }
        guard let due = state.agenda.first?.due else {
            return state.leases.isEmpty ? first : min(first, real + Self.clockCheck)
        }
        let now = clock.now.rawValue
        let ahead = due > now ? min((due - now) &* 100, Self.clockCheck) : 0
        // Never at once: what is due already and was not handed out waits for something else than the clock.
        return min(first, real + max(ahead, 100_000_000))
    }
}

/// Reads a lane's earliest items on the writer's thread, where nothing can come between the rows and what memory makes of them.
private final class FetchWish: Wish {
    let since: UInt64
    private let lane: Int64
    private let board: Board

    init(_ lane: Int64, board: Board, since: UInt64) {
        self.lane = lane
        self.board = board
        self.since = since
    }

    var drafts: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { false }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.fetchLane(lane, board: board) }
    func fail(_ error: ChatError) { board.fetchFailed(lane) }
}
