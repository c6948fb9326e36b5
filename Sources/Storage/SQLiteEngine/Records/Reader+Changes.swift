import ChatModel
import SQLite

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
