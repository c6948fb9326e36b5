import FoundationEssentials
import Glibc

/// Directories as a backup handles them.
struct Folder {
    let path: String

    init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    func file(_ name: String) -> DurableFile { DurableFile(path == "/" ? path + name : "\(path)/\(name)") }

    var exists: Bool { access(path, F_OK) == 0 }

    /// The one it lies in.
    var parent: Folder {
        guard let slash = path.lastIndex(of: "/") else { return Folder(".") }
        return Folder(slash == path.startIndex ? "/" : String(path[..<slash]))
    }

    /// What lies in it, but for what file systems put there themselves.
    func names() throws(BackupFailure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "lost+found" }.sorted()
        } catch { throw BackupFailure("cannot read the directory '\(path)'") }
    }

    /// Makes it, for the account alone; the one it lies in must be there.
    func make() throws(BackupFailure) {
        guard mkdir(path, 0o700) == 0 else { throw .system("make", path) }
    }

    /// Brings the names in it to the disk.
    func sync() throws(BackupFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("read", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("write", path) }
    }

    /// Removes it with everything in it.
    func remove() {
        // What cannot be removed is in nobody's way: it is never taken for a backup or for data.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Bytes that this account may still write there; nil where the system does not say.
    var freeBytes: Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    /// - Throws: where there is less room than that.
    func demand(_ bytes: Int) throws(BackupFailure) {
        guard let freeBytes, freeBytes < bytes else { return }
        throw BackupFailure("'\(path)' has room for \(freeBytes) bytes, and \(bytes) are needed")
    }
}
