import ChatModel
import Locking

/// An engine that counts the reads of records of a kind, and can make readers wait or fail.
struct WatchedEngine: Engine {
    let real: any Engine
    let reads: WatchedReads
    var kind = RecordKind.group

    var log: any EventLog { real.log }
    var directory: any Directory { WatchedDirectory(real: real.directory, reads: reads, kind: kind) }
    var deliveries: any DeliveryQueue { real.deliveries }
    func health() async -> EngineHealth { await real.health() }
    func statistics() async throws(ChatError) -> EngineStatistics { try await real.statistics() }
    func close() async { await real.close() }
}

/// The state of the watched reads.
final class WatchedReads: Sendable {
    private struct State {
        var count = 0
        var isHeld = false
        var isRefused = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var count: Int { state.withLock { $0.count } }
    /// The number of reads that have found their record and wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// From now on, results are held back.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Returns the results that were held back. Later reads do not wait.
    func release() {
        for continuation in takeWaiting() { continuation.resume() }
    }

    /// Returns the waiting reads for the caller to resume. Later reads do not wait.
    func takeWaiting() -> [CheckedContinuation<Void, Never>] {
        state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Sets whether reads fail.
    func refuse(_ isRefused: Bool) { state.withLock { $0.isRefused = isRefused } }

    fileprivate func pass() async throws(ChatError) {
        if state.withLock({ $0.isRefused }) { throw ChatError(.unavailable, "the disk is gone") }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                state.count += 1
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if isFree { continuation.resume() }
        }
    }
}

private struct WatchedDirectory: Directory {
    let real: any Directory
    let reads: WatchedReads
    let kind: RecordKind

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] {
        let found = try await real.read(keys)
        if keys.contains(where: { $0.kind == kind }) { try await reads.pass() }
        return found
    }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        try await real.write(changes, events: events)
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        try await real.decide(keys, decide)
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> { try await real.list(query) }

    func changes(after revision: Revision) async -> RecordChangeSequence { await real.changes(after: revision) }

    func revision() async throws(ChatError) -> Revision { try await real.revision() }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { real.observe(body) }
}
