import FoundationEssentials
import Glibc

/// A directory of a backup.
struct Folder {
    let path: String

    init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    func file(_ name: String) -> DurableFile { DurableFile(path == "/" ? path + name : "\(path)/\(name)") }

    var exists: Bool { access(path, F_OK) == 0 }

    /// The parent directory.
    var parent: Folder {
        guard let slash = path.lastIndex(of: "/") else { return Folder(".") }
        return Folder(slash == path.startIndex ? "/" : String(path[..<slash]))
    }

    /// Returns the names of the entries, without the entries that file systems create themselves.
    func names() throws(BackupFailure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "lost+found" }.sorted()
        } catch { throw BackupFailure("cannot read the directory '\(path)'") }
    }

    /// Creates the directory, which only this account may read. Its parent must exist.
    func make() throws(BackupFailure) {
        guard mkdir(path, 0o700) == 0 else { throw .system("make", path) }
    }

    /// Synchronizes the list of entries to disk.
    func sync() throws(BackupFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("read", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("write", path) }
    }

    /// Removes the directory and all of its contents.
    func remove() {
        // If some contents cannot be removed, they do no harm, because they are never used as a backup or as data.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The number of bytes that this account can write to the file system; nil when the system does not report it.
    var freeBytes: Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    /// Requires `bytes` of free space.
    ///
    /// - Throws: a failure when there is less free space.
    func require(_ bytes: Int) throws(BackupFailure) {
        guard let freeBytes, freeBytes < bytes else { return }
        throw BackupFailure("'\(path)' has \(freeBytes) bytes free, but \(bytes) are needed: free disk space")
    }
}
