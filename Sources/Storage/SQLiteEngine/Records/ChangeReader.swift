import ChatModel
import Locking
import SQLite

extension RecordChanges: ReplayEntry {
    var position: UInt64 { revision }
    var weight: Int { keys.reduce(64) { $0 + $1.id.utf8.count + 96 } }
}

/// One consumer of the changes of records, with its position: the revision of the last change that it has received.
final class ChangeReader: Sendable {
    private let engineState: EngineState
    private let readers: Readers
    private let position: Lock<Revision>

    init(engineState: EngineState, readers: Readers, after revision: Revision) {
        self.engineState = engineState
        self.readers = readers
        position = Lock(revision)
    }

    /// Waits for the next record changes and returns them; nil when the engine is closed or the task is cancelled. Only
    /// one task at a time may call this function.
    func next() async -> RecordChanges? {
        while !Task.isCancelled {
            let here = position.withLock { $0 }
            switch engineState.changes.slice(after: here, limit: 1) {
            case .entries(let changes):
                position.withLock { $0 = changes[0].revision }
                return changes[0]
            case .behind:
                if let changes = await refill(after: here) { return changes }
                if engineState.changes.isClosed { return nil }
            case .empty: await engineState.changes.wait(after: here)
            case .closed: return nil
            }
        }
        return nil
    }

    private func refill(after here: Revision) async -> RecordChanges? {
        let end = engineState.changes.end
        do {
            let found = try await readers.run { (reader) throws(SQLiteFailure) in try reader.changes(after: here) }
            // If nothing was found, no change is left to report: the records were changed again later, or were removed
            // long ago.
            position.withLock { $0 = found?.revision ?? end }
            return found
        } catch {
            // The reader has already logged the error. The caller retries, because no change may be skipped.
            try? await Task.sleep(for: .milliseconds(100))  // the head of the loop checks for cancellation
            return nil
        }
    }
}

extension Reader {
    /// The number of keys after which no further commit is added to the result.
    private static let changesMost = 1000

    /// Returns the changes after a revision, joined from several commits; nil when there are none. Contains only the
    /// last change of each record, which is sufficient for a consumer that reads the changed record.
    func changes(after revision: Revision) throws(SQLiteFailure) -> RecordChanges? {
        var changes = RecordChanges(keys: [], revision: 0)
        statements.changes.bind(Int64(revision), at: 1)
        try statements.changes.forEachRow { row in
            let revision = Revision(row.integer(0))
            if changes.keys.count >= Self.changesMost, revision != changes.revision { return false }
            changes.revision = revision
            // A kind that is unknown here was written by a newer program. It is skipped, because nothing here reads its
            // records.
            if let kind = RecordKind(rawValue: Int(row.integer(2))) {
                changes.keys.append(RecordKey(kind, row.text(3), in: AppID(row.text(1))))
            }
            return true
        }
        return changes.revision == 0 ? nil : changes
    }
}
