public import ChatModel
import SQLite

extension StoreFile {
    /// The bodies of all records of a kind, of every app. For kinds of which there are few.
    public func bodies(of kind: RecordKind) throws(SQLiteEngineFailure) -> [String] {
        try reading { (database) throws(SQLiteFailure) in
            var bodies: [String] = []
            let records = try database.prepare("SELECT body FROM record WHERE kind = \(kind.rawValue)")
            try records.forEachRow { row throws(SQLiteFailure) in
                bodies.append(row.text(0))
                return true
            }
            return bodies
        }
    }
}
