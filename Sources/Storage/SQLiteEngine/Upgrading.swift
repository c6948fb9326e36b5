import Glibc
import Logging
import SQLite

extension SQLiteEngineSettings {
    /// Creates the tables of a new file, or brings those of an older program up to date: all steps or none.
    ///
    /// There is no way back. A damaged file, or a disk without room for a second copy of the file, is therefore refused
    /// before anything is written.
    func upgrade(_ database: Database, by migrations: [String] = Schema.migrations) throws(SQLiteFailure) {
        let found = try database.schemaVersion
        guard found > 0, found < migrations.count else { return try database.migrate(migrations) }
        let fields: Logger.Metadata = ["from": "\(found)", "to": "\(migrations.count)", "path": "\(path)"]
        logger.notice("upgrading the database; older programs cannot read it afterwards", metadata: fields)
        try checkFreeSpace(database)
        let faults = try database.faults(isThorough: false)
        guard faults.isEmpty else {
            throw SQLiteFailure(
                kind: .corrupt,
                message: "the file is damaged and was not upgraded: \(faults.joined(separator: "; ")); restore a backup")
        }
        try database.migrate(migrations)
        logger.notice("upgraded the database", metadata: fields)
    }

    /// Throws unless the file system has room for the whole file again: a migration may write every page to the write-ahead
    /// log first.
    private func checkFreeSpace(_ database: Database) throws(SQLiteFailure) {
        let pages = try database.integer("PRAGMA page_count") ?? 0
        let needed = Int(pages * (try database.integer("PRAGMA page_size") ?? 0))
        var status = statvfs()
        guard !isInMemory, statvfs(path, &status) == 0 else { return }
        let free = Int(status.f_bavail) * Int(status.f_frsize)
        guard free < needed else { return }
        throw SQLiteFailure(
            kind: .full,
            message: "upgrading the database may take \(needed) bytes, and \(free) are free: make room first")
    }
}
