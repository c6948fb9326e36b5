import ChatModel
import Locking

/// An engine with a directory and a queue that refuse writes on request, like a full disk.
struct RefusingEngine: Engine {
    let real: any Engine
    let refusals: Refusals

    var log: any EventLog { real.log }
    var directory: any Directory { RefusingDirectory(real: real.directory, refusals: refusals) }
    var deliveries: any DeliveryQueue { RefusingQueue(real: real.deliveries, refusals: refusals) }
    func health() async -> EngineHealth { await real.health() }
    func close() async { await real.close() }
}

/// The current refusals.
final class Refusals: Sendable {
    private let state = Lock((settings: false, lanes: false, count: 0))
    private let granted = Lock<[Int]>([])
    private let lanes = Lock<[(SubscriberID, LaneState)]>([])
    private let step = Lock<StepLog.Step?>(nil)
    private let replayStep = Lock<StepLog.Step?>(nil)
    private let afterRead = Lock<(isMeant: @Sendable (Record) -> Bool, step: StepLog.Step)?>(nil)
    private let lists = Lock<(refused: Set<RecordKind>, count: Int)>(([], 0))
    private let countReads = Lock(0)
    /// The number of reads that counted deliveries.
    var countingReads: Int { countReads.withLock { $0 } }
    fileprivate func noteCounting() { countReads.withLock { $0 += 1 } }

    /// Runs `step` once when a matching record has been read, before the reader receives it.
    func afterRead(of isMeant: @escaping @Sendable (Record) -> Bool, _ step: @escaping StepLog.Step) {
        afterRead.withLock { $0 = (isMeant, step) }
    }
    /// Makes listings of these kinds fail.
    func refuseLists(of kinds: Set<RecordKind>) { lists.withLock { $0.refused = kinds } }
    var refusedLists: Int { lists.withLock { $0.count } }

    fileprivate func noteRead(_ records: [Record?]) async throws(ChatError) {
        let step = afterRead.withLock { waiting in
            guard let (isMeant, step) = waiting, records.contains(where: { $0.map(isMeant) ?? false }) else {
                return StepLog.Step?.none
            }
            waiting = nil
            return step
        }
        try await step?()
    }

    fileprivate func check(_ query: RecordQuery) throws(ChatError) {
        let isRefused = lists.withLock { lists in
            let isRefused = lists.refused.contains(query.kind)
            lists.count += isRefused ? 1 : 0
            return isRefused
        }
        if isRefused { throw ChatError(.unavailable, "the disk is gone") }
    }
    /// Runs `step` once, before deliveries are next made due again.
    func beforeReplay(_ step: @escaping StepLog.Step) { replayStep.withLock { $0 = step } }

    fileprivate func noteReplay() async throws(ChatError) {
        let step = replayStep.withLock { step in
            defer { step = nil }
            return step
        }
        try await step?()
    }

    /// Runs `step` once, before a lane is next set.
    func beforeLane(_ step: @escaping StepLog.Step) { self.step.withLock { $0 = step } }
    /// The states that a subscriber's lane was set to, in order.
    func states(of subscriber: SubscriberID) -> [LaneState] {
        lanes.withLock { $0.filter { $0.0 == subscriber }.map(\.1) }
    }

    /// Sets whether writes of settings fail, which hold the health of webhooks.
    func refuseSettings(_ isRefused: Bool) { state.withLock { $0.settings = isRefused } }
    /// Sets whether changes of lanes fail.
    func refuseLanes(_ isRefused: Bool) { state.withLock { $0.lanes = isRefused } }
    /// The number of refused calls.
    var count: Int { state.withLock { $0.count } }
    /// The concurrency limits that lanes were set to, in order.
    var concurrencies: [Int] { granted.withLock { $0 } }

    fileprivate func check(_ changes: [RecordChange]) throws(ChatError) {
        try check { $0.settings && changes.contains { $0.key.kind == .setting } }
    }

    fileprivate func checkLane(_ settings: LaneSettings, _ subscriber: SubscriberID) async throws(ChatError) {
        let step = step.withLock { step in
            defer { step = nil }
            return step
        }
        try await step?()
        try check { $0.lanes }
        granted.withLock { $0.append(settings.concurrency) }
        lanes.withLock { $0.append((subscriber, settings.state)) }
    }

    private func check(_ isRefused: ((settings: Bool, lanes: Bool, count: Int)) -> Bool) throws(ChatError) {
        let refused = state.withLock { state in
            let refused = isRefused(state)
            state.count += refused ? 1 : 0
            return refused
        }
        if refused { throw ChatError(.unavailable, "the disk is full") }
    }
}

struct RefusingDirectory: Directory {
    let real: any Directory
    let refusals: Refusals

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] {
        let records = try await real.read(keys)
        try await refusals.noteRead(records)
        return records
    }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        try refusals.check(changes)
        return try await real.write(changes, events: events)
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        try await real.decide(keys, decide)
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        try refusals.check(query)
        return try await real.list(query)
    }

    func changes(after revision: Revision) async -> RecordChangeSequence { await real.changes(after: revision) }
    func revision() async throws(ChatError) -> Revision { try await real.revision() }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { real.observe(body) }
}

struct RefusingQueue: DeliveryQueue {
    let real: any DeliveryQueue
    let refusals: Refusals

    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError) {
        try await refusals.checkLane(settings, subscriber)
        try await real.set(settings, of: subscriber)
    }

    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async {
        await real.pace(subscriber, concurrency: concurrency, notBefore: notBefore)
    }

    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int] { try await real.plan(items, cursor: cursor, from: from, to: to) }

    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken { try await real.cursor(name) }

    func lease(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        try await real.lease(limit, capacity: capacity, wait: wait)
    }

    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] {
        try await real.lease(from: subscriber, limit: limit, lasting: duration, wait: wait)
    }

    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        try await real.finish(attempts)
    }

    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?] {
        try await real.keep(bodies)
    }

    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] {
        try await real.renew(leases, for: duration)
    }

    func release(_ leases: [Lease], after pause: Duration) async throws(ChatError) -> [Bool] {
        try await real.release(leases, after: pause)
    }

    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery> { try await real.list(query) }

    func counts(_ queries: [DeliveryQuery], most: Int) async throws(ChatError) -> [Int] {
        refusals.noteCounting()
        return try await real.counts(queries, most: most)
    }

    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])? {
        try await real.delivery(id, in: app)
    }

    func replay(
        _ selection: DeliverySelection, isDryRun: Bool, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int {
        try await refusals.noteReplay()
        return try await real.replay(selection, isDryRun: isDryRun, whileCurrent: record)
    }

    func enqueue(
        _ items: [PlannedDelivery], whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> (due: Int, processed: Int) {
        try await real.enqueue(items, whileCurrent: record)
    }

    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int {
        try await real.skip(subscriber, through: event)
    }

    func purge(
        _ ids: [String], in app: AppID, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int {
        try await real.purge(ids, in: app, whileCurrent: record)
    }
}
