import ChatModel
import JSON
import StorageCore

/// The directory of records (`Directory`) of a cluster, as one node offers it.
struct ClusterDirectory: Directory {
    let store: any ClusterStore
    let memory: NodeMemory
    let follower: Follower
    let writer: WriterHandle
    var isShared: Bool { true }

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] {
        try await asking { () throws(StoreFailure) in try await store.records(keys) }
    }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        let bytes =
            changes.reduce(0) { $0 + ($1.body?.count ?? 0) + $1.key.id.utf8.count + 64 }
            + events.reduce(0) { $0 + $1.weight }
        let drafts = changes.count + events.count
        return try await writer.run { since, completion in
            DecideRequest([], drafts: drafts, bytes: bytes, since: since, completion: completion) {
                (_: RecordSnapshot) throws(ChatError) in Decision((), changes: changes, events: events)
            }
        }.records
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        // The size of the changes is not known in advance. The estimate is one event, and one record for each key.
        try await writer.run { since, completion in
            DecideRequest(
                keys, drafts: keys.count + 1, bytes: (keys.count + 1) * 1024, since: since, completion: completion,
                decide)
        }
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        do throws(ListFailure) {
            return try await store.list(query)
        } catch {
            throw error.answer
        }
    }

    func changes(after revision: Revision) async -> RecordChangeSequence {
        let reader = ChangeReader(changes: memory.changes, after: revision) {
            [store] (revision) async throws(ChatError) in
            try await asking { () throws(StoreFailure) in try await store.changes(after: revision) }
        }
        return RecordChangeSequence { await reader.next() }
    }

    func revision() async throws(ChatError) -> Revision {
        // A change may be committed on another node that this node has not seen yet.
        try await asking { () throws(StoreFailure) in try await follower.catchUp() }
        return memory.changes.end
    }

    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { memory.changes.observe(body) }
}
