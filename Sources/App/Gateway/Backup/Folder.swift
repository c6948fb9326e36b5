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

    /// Returns the names of the entries, except those that file systems create themselves.
    func names() throws(BackupFailure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "lost+found" }.sorted()
        } catch { throw BackupFailure("cannot read the directory '\(path)'") }
    }

    /// Creates the directory. Only the account may read it. Its parent must exist.
    func make() throws(BackupFailure) {
        guard mkdir(path, 0o700) == 0 else { throw .system("make", path) }
    }

    /// Synchronizes the directory's entries to disk.
    func sync() throws(BackupFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("read", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("write", path) }
    }

    /// Removes the directory with everything in it.
    func remove() {
        // A leftover does no harm: it is never taken for a backup or for data.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The bytes that this account may still write there; nil when the system does not report them.
    var freeBytes: Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    /// - Throws: when there is less free space.
    func require(_ bytes: Int) throws(BackupFailure) {
        guard let freeBytes, freeBytes < bytes else { return }
        throw BackupFailure("'\(path)' has \(freeBytes) bytes free, but \(bytes) are needed")
    }
}
