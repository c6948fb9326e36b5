public import ChatModel
import SQLite

extension StoreFile {
    /// Notes that the store was made of a backup at a moment: what was stored between the two is lost, and who resumes before
    /// the end of that has a gap. Nothing new gets a place in the interval.
    ///
    /// Nobody else has the file open.
    public func noteRestore(at moment: Timetoken) throws(SQLiteEngineFailure) {
        do throws(SQLiteFailure) {
            let database = try Database(path: path, mode: .readWrite)
            try database.execute("PRAGMA synchronous=FULL")
            try database.transaction { () throws(SQLiteFailure) in
                let last = try Heads(database).timetoken
                let end = max(moment, last)
                let note = try database.prepare("INSERT INTO restore(after, upto) VALUES (?1, ?2)")
                note.bind(Int64(last.rawValue), at: 1)
                note.bind(Int64(end.rawValue), at: 2)
                try note.run()
                let head = try database.prepare("UPDATE head SET tt = max(tt, ?1) WHERE lane = 0")
                head.bind(Int64(end.rawValue), at: 1)
                try head.run()
            }
        } catch {
            throw SQLiteEngineFailure(error, path: path)
        }
    }
}
