public import ChatModel
import Locking
import TestSupport
import Testing

/// One node of a cluster, over an engine that several nodes share. The node learns of the commits of the others when
/// the test says so, or when a call needs the newest state, as in `ClusterEngine`.
///
/// What the node reads from the store is always new: only the notification of commits lags.
public struct LaggingEngine: Engine {
    private let real: any Engine
    private let lag: Lag

    public init(_ real: any Engine) {
        self.real = real
        lag = Lag(real)
    }

    public var log: any EventLog { LaggingLog(real: real.log, lag: lag) }
    public var directory: any Directory { LaggingDirectory(real: real.directory, lag: lag) }
    public var deliveries: any DeliveryQueue { real.deliveries }
    public func health() async -> EngineHealth { await real.health() }
    public func close() async { await real.close() }

    /// The number of times that the node has read the newest revision.
    public var revisionReads: Int { lag.revisionReads.value }

    /// Holds the commits of the other nodes back from now on, until ``follow()``.
    public func fallBehind() async throws { try await lag.hold() }

    /// Shows all commits, those that were held back first.
    public func follow() { lag.release() }
}

/// The part of the commits that a node has seen.
private final class Lag: Sendable {
    private struct State {
        var observers: [@Sendable (RecordChanges) -> Void] = []
        /// The changes that observers have not seen.
        var unseen: [RecordChanges] = []
    }

    private let real: any Engine
    private let state = Lock(State())
    /// The revision and the position up to which commits are visible.
    let visible = Observed<(revision: Revision, position: Timetoken)>((.max, .distantFuture))
    let revisionReads = Observed(0)

    init(_ real: any Engine) {
        self.real = real
        real.directory.observe { [weak self] in self?.add($0) }
    }

    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { state.withLock { $0.observers.append(body) } }

    private func add(_ changes: RecordChanges) {
        state.withLock { $0.unseen.append(changes) }
        show(upTo: visible.value.revision)
    }

    private func show(upTo revision: Revision) {
        state.withLock { state in
            for changes in state.unseen where changes.revision <= revision {
                for observer in state.observers { observer(changes) }
            }
            state.unseen.removeAll { $0.revision <= revision }
        }
    }

    func hold() async throws(ChatError) { try await move(evenIfAll: true) }

    func release() {
        show(upTo: .max)
        visible.update { $0 = (.max, .distantFuture) }
    }

    /// Shows what was committed before the call.
    func catchUp() async throws(ChatError) { try await move(evenIfAll: false) }

    private func move(evenIfAll: Bool) async throws(ChatError) {
        guard evenIfAll || visible.value.revision < .max else { return }
        let revision = try await real.directory.revision()
        let position = try await real.log.watermark(of: .gateway)
        show(upTo: revision)
        visible.update { visible in
            guard evenIfAll || visible.revision < .max else { return }
            visible = (revision, position)
        }
    }
}

private struct LaggingDirectory: Directory {
    let real: any Directory
    let lag: Lag
    var isShared: Bool { true }

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] { try await real.read(keys) }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        let records = try await real.write(changes, events: events)
        try await lag.catchUp()
        return records
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        let decided = try await real.decide(keys, decide)
        try await lag.catchUp()
        return decided
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> { try await real.list(query) }

    func changes(after revision: Revision) async -> RecordChangeSequence {
        let changes = await real.changes(after: revision)
        return RecordChangeSequence { [visible = lag.visible] in
            // The sequence is of one reader, whose position is in the engine.
            var iterator = changes.makeAsyncIterator()
            guard let next = await iterator.next() else { return nil }
            await visible.wait { $0.revision >= next.revision }
            return next
        }
    }

    func revision() async throws(ChatError) -> Revision {
        lag.revisionReads.increment()
        try await lag.catchUp()
        return try await real.revision()
    }

    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { lag.observe(body) }
}

private struct LaggingLog: EventLog {
    let real: any EventLog
    let lag: Lag

    nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome {
        let outcome = try await real.append(drafts, claim: claim, unlessChangedSince: revision)
        try await lag.catchUp()
        return outcome
    }

    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? { try await real.earlier(claim) }

    nonisolated(nonsending) func watermark(of app: AppID) async throws(ChatError) -> Timetoken {
        try await lag.catchUp()
        return try await real.watermark(of: app)
    }

    nonisolated(nonsending) func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss? { try await real.loss(in: channels, types: types, after: position) }

    func events(
        in channels: ChannelSet, after position: Timetoken, limit: Int
    ) async throws(ChatError) -> Page<Event> {
        try await lag.catchUp()
        return try await real.events(in: channels, after: position, limit: limit)
    }

    func kept(in channels: ChannelSet, _ stretch: LogRange, limit: Int) async throws(ChatError) -> Page<Event> {
        try await real.kept(in: channels, stretch, limit: limit)
    }

    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>] {
        try await real.history(requests)
    }

    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] { try await real.counts(requests) }

    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event? {
        try await lag.catchUp()
        return try await real.event(at: timetoken, in: app)
    }

    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int {
        try await real.delete(after: after, before: before, in: channel)
    }

    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError) {
        try await real.setRetention(age, of: app)
    }

    func committed() async -> CommitSequence {
        let commits = await real.committed()
        return CommitSequence { [visible = lag.visible] in
            var iterator = commits.makeAsyncIterator()
            guard let next = await iterator.next() else { return nil }
            await visible.wait { $0.position >= next.watermark }
            return next
        }
    }
}
