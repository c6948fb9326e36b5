public import ChatModel
import Glibc
import JSON
import SQLiteEngine

/// A step of a backup or restore, with its progress.
public enum BackupProgress: Sendable, Equatable {
    case copying(done: Int, of: Int)
    /// The completed copy is being verified.
    case checking
    case hashing(done: Int, of: Int)
}

/// A backup of a data directory: a directory with a copy of the database and a manifest.
///
/// The copy has the state of one moment, even if a gateway runs on the data directory. Only the account that makes the
/// backup may read it, because the database contains keys and payloads.
public struct Backup {
    private let store: StoreFile
    private let clock: WallClock

    /// Creates a backup that is not written yet; see ``write(to:progress:)``.
    ///
    /// - Parameter dataDirectory: the data directory of a gateway, which may be running.
    public init(of dataDirectory: String, clock: WallClock = .system) {
        store = StoreFile(at: DataDirectory.database(in: dataDirectory))
        self.clock = clock
    }

    /// Writes the backup to a new directory and verifies it.
    ///
    /// The directory has the suffix `.partial` until it is complete. After a crash, the incomplete directory remains
    /// under this name.
    ///
    /// - Throws: ``BackupFailure`` when `path` or `path.partial` exists, when there is no database, when the disk has
    ///   too little space, or when a file cannot be written. Everything that was written is then removed.
    public func write(
        to path: String, progress: (BackupProgress) -> Void
    ) throws(BackupFailure) -> BackupManifest {
        let target = Folder(path)
        guard !target.exists else { throw BackupFailure("'\(path)' exists already: use a new directory") }
        guard store.exists else {
            throw BackupFailure(
                "no database exists at '\(store.path)': pass the gateway's data directory with --data")
        }
        let partial = Folder(target.path + ".partial")
        guard !partial.exists else {
            throw BackupFailure("'\(partial.path)' remains from an unfinished backup: remove it")
        }
        try target.parent.require(sourceBytes)
        try partial.make()
        do throws(BackupFailure) {
            let manifest = try write(into: partial, progress)
            guard rename(partial.path, target.path) == 0 else { throw .system("make", target.path) }
            try target.parent.sync()
            return manifest
        } catch {
            partial.remove()
            throw error
        }
    }

    private func write(
        into folder: Folder, _ progress: (BackupProgress) -> Void
    ) throws(BackupFailure) -> BackupManifest {
        let file = folder.file(DataDirectory.databaseName)
        let created = clock.now.timestamp
        let summary = try BackupFailure.translating { () throws(SQLiteEngineFailure) in
            try store.copy(to: file.path) { progress(.copying(done: $0, of: $1)) }
            progress(.checking)
            return try StoreFile(at: file.path).verified()
        }
        let size = file.bytes
        let (bytes, sha256) = try file.digest { progress(.hashing(done: $0, of: size)) }
        let manifest = BackupManifest(
            summary, created: created, productVersion: Product.version,
            files: [BackupManifest.File(name: DataDirectory.databaseName, bytes: bytes, sha256: sha256)])
        try folder.file(BackupManifest.fileName).write(manifest.json.bytes + [0x0A])
        try folder.sync()
        return manifest
    }

    /// The number of bytes that the copy may need.
    private var sourceBytes: Int {
        DurableFile(store.path).bytes + DurableFile(store.path + "-wal").bytes
    }
}

extension StoreFile {
    /// Verifies the structure of the copied database and returns its summary.
    func verified() throws(SQLiteEngineFailure) -> StoreSummary {
        let faults = try faults(isThorough: true)
        guard faults.isEmpty else { throw .damaged(path, faults) }
        return try summary()
    }
}

extension BackupFailure {
    static func translating<Result>(
        _ body: () throws(SQLiteEngineFailure) -> Result
    ) throws(BackupFailure) -> Result {
        do throws(SQLiteEngineFailure) { return try body() } catch { throw BackupFailure(error.description) }
    }
}
