import Glibc
import Signing

/// A file that is written completely and synchronized to disk.
struct DurableFile {
    let path: String

    private static let pieceBytes = 1024 * 1024

    init(_ path: String) { self.path = path }

    var exists: Bool { access(path, F_OK) == 0 }

    /// The size of the file in bytes; zero when the file does not exist.
    var bytes: Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Returns the size and the SHA-256 digest of the file.
    func digest(progress: (_ bytes: Int) -> Void) throws(BackupFailure) -> (bytes: Int, sha256: String) {
        try read(into: nil, progress: progress)
    }

    /// Copies the file to a new file, which only this account may read. The copy is synchronized to disk when this
    /// method returns. Returns the digest of the copied bytes.
    func copy(
        to target: String, progress: (_ bytes: Int) -> Void
    ) throws(BackupFailure) -> (bytes: Int, sha256: String) {
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("make", target) }
        defer { close(descriptor) }
        let copied = try read(into: descriptor, progress: progress)
        guard fsync(descriptor) == 0 else { throw .system("write", target) }
        return copied
    }

    /// Returns the contents of the file.
    ///
    /// - Throws: a failure when the file has more than `limit` bytes or cannot be read.
    func bytes(limit: Int) throws(BackupFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("read", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", path) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        throw BackupFailure("\(path) is longer than \(limit) bytes")
    }

    /// Creates the file with these bytes. Only this account may read the file.
    func write(_ bytes: [UInt8]) throws(BackupFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("make", path) }
        defer { close(descriptor) }
        let isWritten = bytes.withUnsafeBytes { Self.write($0, to: descriptor) }
        guard isWritten, fsync(descriptor) == 0 else { throw .system("write", path) }
    }

    private func read(
        into target: Int32?, progress: (_ bytes: Int) -> Void
    ) throws(BackupFailure) -> (bytes: Int, sha256: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("read", path) }
        defer { close(descriptor) }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 1)
        defer { piece.deallocate() }
        var digest = RunningDigest()
        var total = 0
        while true {
            let count = Glibc.read(descriptor, piece.baseAddress, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", path) }
            guard count > 0 else { return (total, digest.finish()) }
            let part = UnsafeRawBufferPointer(rebasing: piece[..<count])
            digest.update(part)
            if let target {
                guard Self.write(part, to: target) else { throw .system("copy", path) }
            }
            total += count
            progress(total)
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension BackupFailure {
    /// Creates a failure from the error of the last system call.
    static func system(_ verb: String, _ path: String) -> BackupFailure {
        BackupFailure("cannot \(verb) '\(path)': \(String(cString: strerror(errno)))")
    }
}
