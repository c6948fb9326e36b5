import Glibc
import SQLiteEngine

/// Checks the data directory: its owner, its permissions, its free space and its file system.
struct DataCheck {
    let path: String

    var database: String { DataDirectory.database(in: path) }
    var hasDatabase: Bool { DurableFile(database).exists }

    /// True when a gateway is using the data directory; nil when there is no database.
    var isServed: Bool? { hasDatabase ? StoreFile(at: database).isInUse : nil }

    /// The free space in bytes below which the check warns. In a busy hour, the database and its write-ahead log may
    /// need more than this.
    private static let lowSpace = 1_000_000_000
    private static let criticalSpace = 50_000_000

    var results: [CheckResult] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return [
                    CheckResult(
                        "data", .failure, "cannot read '\(path)': \(String(cString: strerror(errno)))",
                        advice: "run as the gateway's account or as root")
                ]
            }
            return [
                CheckResult(
                    "data", .warning, "the directory '\(path)' does not exist",
                    advice:
                        "the gateway creates the directory at its first start; if the data is in another directory, pass that directory with --data"
                )
            ]
        }
        return [access(status), freeSpace, fileSystem] + leftovers
    }

    private func access(_ directory: stat) -> CheckResult {
        if directory.st_mode & 0o077 != 0 {
            return CheckResult(
                "data", .warning, "'\(path)' is accessible to other accounts of this machine",
                advice: "the database contains keys and payloads: chmod 700 \(path)")
        }
        var file = stat()
        if stat(database, &file) == 0, file.st_uid != directory.st_uid {
            return CheckResult(
                "data", .failure,
                "'\(database)' belongs to account \(file.st_uid), but its directory belongs to account \(directory.st_uid)",
                advice:
                    "make the gateway's account the owner of the directory and its files: chown -R \(directory.st_uid) \(path)"
            )
        }
        let unreadable = [database, database + "-wal"].first {
            var status = stat()
            return stat($0, &status) == 0 && status.st_mode & 0o077 != 0
        }
        if let unreadable {
            return CheckResult(
                "data", .warning, "'\(unreadable)' is readable by other accounts", advice: "chmod 600 \(unreadable)")
        }
        return CheckResult("data", .ok, "'\(path)' is accessible only to the account that owns it")
    }

    private var freeSpace: CheckResult {
        guard let free = Folder(path).freeBytes else {
            return CheckResult("disk", .warning, "the free space of '\(path)' is unknown")
        }
        let text = "\(free / 1_000_000) MB free"
        let advice = "free disk space, or shorten the retention of events; on a full disk, events are rejected with 507"
        if free < Self.criticalSpace { return CheckResult("disk", .failure, text, advice: advice) }
        return free < Self.lowSpace
            ? CheckResult("disk", .warning, text, advice: advice) : CheckResult("disk", .ok, text)
    }

    /// Network and shared file systems, on which the write-ahead log does not work (<https://www.sqlite.org/wal.html>:
    /// "all processes using a database must be on the same host").
    private static let shared: Set<Substring> = [
        "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "lustre", "ocfs2", "gfs2", "afs", "glusterfs", "beegfs",
        "virtiofs",
    ]
    private static let volatile: Set<Substring> = ["tmpfs", "ramfs"]

    private var fileSystem: CheckResult {
        guard let kind = MountTable.current?.kind(of: path) else {
            return CheckResult("filesystem", .ok, "the type of the file system is unknown")
        }
        // The actual file system of a type such as `fuse.sshfs` is unknown.
        if Self.shared.contains(kind[...]) || kind.hasPrefix("fuse") {
            return CheckResult(
                "filesystem", .failure, "'\(path)' is on \(kind)",
                advice: "the database needs a local disk for its write-ahead log; move the directory to a local disk")
        }
        if Self.volatile.contains(kind[...]) {
            return CheckResult(
                "filesystem", .warning, "'\(path)' is in memory (\(kind))",
                advice: "a reboot loses all data; move the directory to a disk")
        }
        return CheckResult("filesystem", .ok, kind)
    }

    private var leftovers: [CheckResult] {
        var findings: [CheckResult] = []
        let folder = Folder(path)
        if folder.file(DataDirectory.unfinishedName).exists {
            findings.append(
                CheckResult(
                    "restore", .failure, "a restore into '\(path)' did not finish",
                    advice: "empty the directory and restore again"))
        }
        let key = AdminKeyFile(in: path).path
        if DurableFile(key).exists {
            findings.append(
                CheckResult(
                    "admin_key", .warning, "the first admin key is in '\(key)'",
                    advice: "store the key in a safe place, then remove the file"))
        }
        return findings
    }
}
