import ChatCore
import ChatModel
import ChatSupport
import JSON
import Locking
import TestSupport

let demo = AppID("demo")

/// An event at a timetoken that the test chooses.
func event(
    _ timetoken: UInt64, on channel: String = "orders.eu", type: String = "order.paid", data: String = "{}",
    audience: Audience = .subscribers, app: AppID = demo
) -> Event {
    var draft = EventDraft(
        channel: ChannelID(channel, in: app), type: type, data: JSONText(trusted: Array(data.utf8)))
    draft.audience = audience
    return Event(timetoken: Timetoken(timetoken), draft: draft)
}

func selection(_ channels: [String], types: [NamePattern] = [.all], filter: Filter? = nil) -> Selection {
    Selection(
        channels: ChannelSet(app: demo, patterns: channels.compactMap { NamePattern($0) }), types: types,
        filter: filter)
}

/// A log whose commits reach the hub when the test says so, which makes otherwise too short moments visible.
final class ScriptedLog: EventLog {
    private struct State {
        var events: [Event] = []
        var watermark = Timetoken.zero
        var loss: Loss?
        var limits: [Int] = []
        var failure: ChatError?
    }

    private let state = Lock(State())
    private let followers = Lock<[ScriptedCommits]>([])
    /// False if consumers must wait for each commit, as for commits that a log must read from its store.
    private let isInMemory: Bool

    init(isInMemory: Bool = true) { self.isInMemory = isInMemory }

    /// Stores events without notifying the hub. Readers of the log see them.
    func store(_ events: [Event], watermark: Timetoken? = nil) {
        state.withLock { state in
            state.events += events
            state.watermark = max(state.watermark, watermark ?? events.last?.timetoken ?? .zero)
        }
    }

    /// Notifies the hub of stored events.
    func tell(_ events: [Event], watermark: Timetoken? = nil) {
        let commit = Commit(events: events, watermark: watermark ?? events.last?.timetoken ?? .zero)
        for follower in followers.withLock({ $0 }) { follower.add(commit) }
    }

    func commit(_ events: [Event]) {
        store(events)
        tell(events)
    }

    func end() { for follower in followers.withLock({ $0 }) { follower.end() } }
    func lose(upTo timetoken: Timetoken, by cause: Loss.Cause = .retention) {
        state.withLock { state in
            state.loss = Loss(upTo: timetoken, cause: cause)
            if cause == .retention { state.events.removeAll { $0.timetoken <= timetoken } }
        }
    }
    func fail(with error: ChatError) { state.withLock { $0.failure = error } }
    /// The page sizes that readers have requested.
    var limitsAsked: [Int] { state.withLock { $0.limits } }

    func watermark(of app: AppID) async throws(ChatError) -> Timetoken { state.withLock { $0.watermark } }
    func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss? {
        state.withLock { $0.loss.flatMap { position < $0.upTo ? $0 : nil } }
    }

    func events(
        in channels: ChannelSet, after position: Timetoken, limit: Int
    ) async throws(ChatError) -> Page<Event> {
        let failure = state.withLock { $0.failure }
        if let failure { throw failure }
        return state.withLock { state in
            state.limits.append(limit)
            let found = state.events.filter { $0.timetoken > position && channels.contains($0.channel) }
            let items = Array(found.prefix(limit))
            let hasMore = found.count > limit
            return Page(items: items, hasMore: hasMore, position: hasMore ? items.last!.timetoken : state.watermark)
        }
    }

    func committed() async -> CommitSequence {
        let commits = ScriptedCommits(isInMemory: isInMemory)
        followers.withLock { $0.append(commits) }
        return CommitSequence(inMemory: commits) { await commits.following() }
    }

    func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome { throw .unscripted }
    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? { throw .unscripted }
    func kept(in channels: ChannelSet, _ range: LogRange, limit: Int) async throws(ChatError) -> Page<Event> {
        throw .unscripted
    }
    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>] { throw .unscripted }
    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] { throw .unscripted }
    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event? { throw .unscripted }
    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int {
        throw .unscripted
    }
    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError) { throw .unscripted }
}

/// The commits of a ``ScriptedLog`` for one consumer.
private final class ScriptedCommits: CommitsInMemory {
    private struct State {
        var commits: [Commit] = []
        var isOver = false
        var callback: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let isInMemory: Bool
    private let hasChanged = AsyncSignal()

    init(isInMemory: Bool) { self.isInMemory = isInMemory }

    func add(_ commit: Commit) { change { $0.commits.append(commit) } }
    func end() { change { $0.isOver = true } }

    private func change(_ body: @Sendable (inout State) -> Void) {
        let callback = state.withLock { state in
            body(&state)
            return state.callback.take()
        }
        callback?()
        hasChanged.send()
    }

    func nextInMemory() -> Commit? {
        guard isInMemory else { return nil }
        return state.withLock { $0.commits.isEmpty ? nil : $0.commits.removeFirst() }
    }

    func notify(_ callback: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.commits.isEmpty, !state.isOver else { return false }
            state.callback = callback
            return true
        }
    }

    /// Waits for the next commit. Returns nil at the end.
    func following() async -> Commit? {
        while !Task.isCancelled {
            let (commit, isOver) = state.withLock { state in
                (state.commits.isEmpty ? nil : state.commits.removeFirst(), state.isOver)
            }
            if let commit { return commit }
            if isOver { return nil }
            await hasChanged.wait()
        }
        return nil
    }
}

extension ChatError {
    static let unscripted = ChatError(.unavailable, "this test's engine does not do that")
}

/// An engine with a scripted log and a directory that stores nothing.
struct ScriptedEngine: Engine {
    let scripted: ScriptedLog
    var log: any EventLog { scripted }
    let directory: any Directory = ForgetfulDirectory()
    let deliveries: any DeliveryQueue = NoDeliveries()
    func health() async -> EngineHealth { .ready }
    func close() async { scripted.end() }
}

/// A directory that is empty and discards every write.
struct ForgetfulDirectory: Directory {
    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] { keys.map { _ in nil } }
    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] { [] }
    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        throw .unscripted
    }
    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> { Page(items: []) }
    func changes(after revision: Revision) async -> RecordChangeSequence { RecordChangeSequence { nil } }
    func revision() async throws(ChatError) -> Revision { 0 }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) {}
}

struct NoDeliveries: DeliveryQueue {
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int] { throw .unscripted }
    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken { throw .unscripted }
    func lease(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease] { throw .unscripted }
    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        throw .unscripted
    }
    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] {
        throw .unscripted
    }
    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?] { throw .unscripted }
    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] { throw .unscripted }
    func release(_ leases: [Lease], after pause: Duration) async throws(ChatError) -> [Bool] { throw .unscripted }
    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError) { throw .unscripted }
    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async {}
    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery> { throw .unscripted }
    func counts(_ queries: [DeliveryQuery], most: Int) async throws(ChatError) -> [Int] { throw .unscripted }
    func enqueue(
        _ items: [PlannedDelivery], whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> (due: Int, processed: Int) { throw .unscripted }
    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int { throw .unscripted }
    func purge(
        _ ids: [String], in app: AppID, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int { throw .unscripted }
    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])? {
        throw .unscripted
    }
    func replay(
        _ selection: DeliverySelection, isDryRun: Bool, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int { throw .unscripted }
}

extension Limits {
    /// Limits under which a turn of the hub ends by the number and size of its events only, not by time.
    static var untimed: Limits {
        var limits = Limits()
        limits.hubTurn = .seconds(3600)
        return limits
    }
}

/// A chat service over a scripted log, running while `body` does.
func withScriptedService(
    limits: Limits = .untimed, stored: [Event] = [], isInMemory: Bool = true,
    _ body: (ChatService, ScriptedLog) async throws -> Void
) async throws {
    let log = ScriptedLog(isInMemory: isInMemory)
    log.store(stored)
    let service = ChatService(
        engine: ScriptedEngine(scripted: log), limits: limits,
        executor: ThreadExecutor(name: "test-hub")!)
    try await withThrowingTaskGroup { group in
        try await ChatFixture.start({ try await service.run(whenReady: $0) }, in: &group)
        try await body(service, log)
        log.end()
        try await group.waitForAll()
    }
}

extension ChatService {
    /// The app `demo` with the rights of a caller that has these scopes.
    func demoChat(
        scopes: Scopes = [.read], channels: [NamePattern] = [.all], types: [NamePattern] = [.all]
    ) -> ChatAccess {
        chat(for: Caller(app: demo, credential: "key_test", scopes: scopes, channels: channels, types: types))
    }
}

/// Records the events that a feed passes to it, turn by turn.
final class RecordingSink: FeedSink {
    nonisolated(unsafe) var feedPlace: FeedPlace?  // Safe: only the hub uses it, on its executor.
    private let turns = Lock<[[UInt64]]>([])
    func receive(_ events: [Event]) { turns.withLock { $0.append(events.map(\.timetoken.rawValue)) } }
    var timetokens: [UInt64] { turns.withLock { $0.flatMap(\.self) } }
    var turnCount: Int { turns.withLock { $0.count } }
}
