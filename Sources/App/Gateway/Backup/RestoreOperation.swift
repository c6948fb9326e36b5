public import ChatModel
import Glibc
import SQLiteEngine

/// Creates a data directory from a backup. The data is verified before and after it is copied. A gateway cannot use the
/// directory until the restore is complete.
public struct RestoreOperation {
    private let backup: Folder
    private let data: Folder
    private let clock: WallClock

    /// Creates a restore that has not begun; see ``run(progress:)``.
    ///
    /// - Parameters:
    ///   - backup: the directory of the backup.
    ///   - dataDirectory: the directory to restore to. It is created if it does not exist, and otherwise must be empty.
    public init(_ backup: String, into dataDirectory: String, clock: WallClock = .system) {
        self.backup = Folder(backup)
        data = Folder(dataDirectory)
        self.clock = clock
    }

    /// Restores the backup.
    ///
    /// - Throws: a failure for a data directory that is not empty, for a damaged backup, for a backup from a newer
    ///   version of the program, and when writing fails. The written files are then removed. If they cannot be removed,
    ///   no gateway starts on the data directory (``DataDirectory/unfinishedName``).
    public func run(progress: (BackupProgress) -> Void) throws(BackupFailure) -> BackupManifest {
        let manifest = try BackupManifest(try backup.file(BackupManifest.fileName).bytes(limit: 64 * 1024))
        guard manifest.schemaVersion <= StoreFile.knownVersion else {
            throw BackupFailure(
                "the backup has schema version \(manifest.schemaVersion), but this version of Parley supports up to "
                    + "\(StoreFile.knownVersion): restore it with Parley \(manifest.productVersion) or newer")
        }
        guard let file = manifest.files.first, manifest.files.count == 1 else {
            throw BackupFailure("\(BackupManifest.fileName) lists no database; use a complete backup")
        }
        let isNew = try prepare(for: file)
        let unfinished = data.file(DataDirectory.unfinishedName)
        do throws(BackupFailure) {
            try copy(file, to: unfinished, manifest, progress)
            try BackupFailure.translating { () throws(SQLiteEngineFailure) in
                try StoreFile(at: unfinished.path).recordRestore(at: clock.now)
            }
            try changeOwner(unfinished)
            let database = data.file(DataDirectory.databaseName)
            guard rename(unfinished.path, database.path) == 0 else { throw .system("make", database.path) }
            try data.sync()
            return manifest
        } catch {
            unlink(unfinished.path)
            if isNew { rmdir(data.path) }
            throw error
        }
    }

    /// Prepares the data directory and checks its free space.
    ///
    /// - Returns: true when the directory was created.
    private func prepare(for file: BackupManifest.File) throws(BackupFailure) -> Bool {
        let isNew = !data.exists
        if isNew {
            do throws(SettingError) { _ = try DataDirectory(at: data.path) } catch {
                throw BackupFailure(error.description)
            }
        }
        let names = try data.names()
        guard names.isEmpty else {
            throw BackupFailure(
                names.contains(DataDirectory.unfinishedName)
                    ? "a restore into '\(data.path)' did not finish: empty the directory, then restore again"
                    : "'\(data.path)' is not empty: use a new directory, or empty this directory")
        }
        try data.require(file.bytes)
        return isNew
    }

    private func copy(
        _ file: BackupManifest.File, to target: DurableFile, _ manifest: BackupManifest,
        _ progress: (BackupProgress) -> Void
    ) throws(BackupFailure) {
        let source = backup.file(file.name)
        let (bytes, sha256) = try source.copy(to: target.path) { progress(.copying(done: $0, of: file.bytes)) }
        guard bytes == file.bytes, sha256 == file.sha256 else {
            throw BackupFailure(
                "'\(source.path)' has changed since the backup: its size or SHA-256 differs from the manifest")
        }
        progress(.checking)
        let summary = try BackupFailure.translating { () throws(SQLiteEngineFailure) in
            try StoreFile(at: target.path).verified()
        }
        guard manifest.describes(summary) else {
            throw BackupFailure("the contents of '\(source.path)' differ from \(BackupManifest.fileName)")
        }
    }

    /// Gives the file to the owner of the data directory, if this process runs as root.
    private func changeOwner(_ file: DurableFile) throws(BackupFailure) {
        var status = stat()
        guard geteuid() == 0, stat(data.path, &status) == 0 else { return }
        guard chown(file.path, status.st_uid, status.st_gid) == 0 else {
            throw .system("change the owner of", file.path)
        }
    }
}
