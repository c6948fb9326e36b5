import Glibc
import Logging
import SQLite

extension SQLiteEngineSettings {
    /// Makes the tables of a new file, or brings those of an older program up to date: all steps or none.
    ///
    /// There is no way back, so a file that is damaged, or a disk that may not hold what is written meanwhile, is refused
    /// before anything is touched.
    func upgrade(_ database: Database) throws(SQLiteFailure) {
        let found = try database.schemaVersion
        let known = Schema.migrations.count
        guard found > 0, found < known else { return try database.migrate(Schema.migrations) }
        let fields: Logger.Metadata = ["from": "\(found)", "to": "\(known)", "path": "\(path)"]
        logger.notice("bringing the database to a newer version, which older programs cannot read", metadata: fields)
        try demandRoom(database)
        let faults = try database.faults(isThorough: false)
        guard faults.isEmpty else {
            throw SQLiteFailure(
                kind: .corrupt,
                message: "it is damaged, and was left as it is: \(faults.joined(separator: "; ")); restore a backup")
        }
        try database.migrate(Schema.migrations)
        logger.notice("the database has its newer version", metadata: fields)
    }

    /// Everything may be written anew, into the log first.
    private func demandRoom(_ database: Database) throws(SQLiteFailure) {
        let pages = try database.integer("PRAGMA page_count") ?? 0
        let needed = Int(pages * (try database.integer("PRAGMA page_size") ?? 0))
        var status = statvfs()
        guard !isInMemory, statvfs(path, &status) == 0 else { return }
        let free = Int(status.f_bavail) * Int(status.f_frsize)
        guard free < needed else { return }
        throw SQLiteFailure(
            kind: .full,
            message: "bringing it to a newer version may take \(needed) bytes, and \(free) are free: make room first")
    }
}
