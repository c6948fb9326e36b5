import ChatModel
import TestSupport

/// An engine that holds one read of a record back until the test releases it.
struct HeldEngine: Engine {
    let real: any Engine
    let held: HeldDirectory

    init(_ real: any Engine, holding kind: RecordKind, failsLater: Bool = false) {
        self.real = real
        held = HeldDirectory(real: real.directory, kind: kind, failsLater: failsLater)
    }

    var log: any EventLog { real.log }
    var directory: any Directory { held }
    var deliveries: any DeliveryQueue { real.deliveries }
    func health() async -> EngineHealth { await real.health() }
    func close() async { await real.close() }
}

struct HeldDirectory: Directory {
    let real: any Directory
    let kind: RecordKind
    /// True when all reads of the kind after the one that is held fail.
    let failsLater: Bool
    /// The keys whose reads have been answered, and those that may be returned.
    let reached = Observed<[RecordKey]>()
    let released = Latch()

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] {
        if failsLater, !reached.value.isEmpty, keys.contains(where: { $0.kind == kind }) {
            throw ChatError(.unavailable, "the records cannot be read")
        }
        let records = try await real.read(keys)
        if reached.value.isEmpty, let key = keys.first(where: { $0.kind == kind }) {
            reached.append(key)
            await released.pass()
        }
        return records
    }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        try await real.write(changes, events: events)
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        try await real.decide(keys, decide)
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> { try await real.list(query) }
    func changes(after revision: Revision) async -> RecordChangeSequence { await real.changes(after: revision) }
    func revision() async throws(ChatError) -> Revision { try await real.revision() }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { real.observe(body) }
}
