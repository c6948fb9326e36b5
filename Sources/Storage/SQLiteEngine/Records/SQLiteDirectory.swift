import ChatModel
import JSON
import SQLite
import StorageCore

/// The directory of records (`Directory`) of a store.
struct SQLiteDirectory: Directory {
    let engineState: EngineState
    let readers: Readers
    let writerHandle: WriterHandle

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] {
        try await readers.run { (reader) throws(SQLiteFailure) in
            try reader.inSnapshot { () throws(SQLiteFailure) in
                var records: [Record?] = []
                for key in keys { records.append(try reader.statements.record.record(key)) }
                return records
            }
        }
    }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        let bytes =
            changes.reduce(0) { $0 + ($1.body?.count ?? 0) + $1.key.id.utf8.count + 64 }
            + events.reduce(0) { $0 + $1.weight }
        return try await writerHandle.run(drafts: changes.count + events.count, bytes: bytes) {
            (writer) throws(SQLiteFailure) in
            try writer.write(changes, events: events).map(\.records)
        }
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        // The size of the changes is not known in advance. The estimate is one event, and one record for each key.
        try await writerHandle.run(drafts: keys.count + 1, bytes: (keys.count + 1) * 1024) {
            (writer) throws(SQLiteFailure) in
            try writer.decide(keys, decide)
        }
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        let listing = try RecordListing(query)
        return try await readers.run { (reader) throws(SQLiteFailure) in try reader.list(listing) }
    }

    func changes(after revision: Revision) async -> RecordChangeSequence {
        let reader = ChangeReader(changes: engineState.changes, after: revision) {
            [readers] (here) async throws(ChatError) in
            try await readers.run { (reader) throws(SQLiteFailure) in try reader.changes(after: here) }
        }
        return RecordChangeSequence { await reader.next() }
    }

    func revision() async throws(ChatError) -> Revision { engineState.changes.end }

    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) {
        engineState.changes.observe(body)
    }
}

extension Statement {
    /// The columns of a record, in the order in which ``record(_:)`` and ``record(in:kind:)`` read them.
    static let recordColumns = "id, parent, tag, updated, body"

    /// Returns the record with this key; nil when there is none. The statement must be `SELECT recordColumns FROM
    /// record WHERE app=? AND kind=? AND id=?`.
    func record(_ key: RecordKey) throws(SQLiteFailure) -> Record? {
        bind(key.app.name, at: 1)
        bind(key.kind.rawValue, at: 2)
        bind(key.id, at: 3)
        defer { reset() }
        return try step() ? record(in: key.app, kind: key.kind) : nil
    }

    /// Returns the record in the current row, whose columns must be ``recordColumns``.
    func record(in app: AppID, kind: RecordKind) -> Record {
        Record(
            key: RecordKey(kind, text(0), in: app), parent: optionalText(1), body: .init(trusted: bytes(4)),
            etag: ETag.text(integer(2)), updated: Timetoken(UInt64(integer(3))))
    }
}
