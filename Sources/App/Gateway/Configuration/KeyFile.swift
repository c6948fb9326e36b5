import Glibc

/// A small file an operator put a secret into, as container platforms mount them.
struct KeyFile {
    let path: String

    private static let mostBytes = 64 * 1024

    /// The whole file.
    func text() throws(SettingError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= Self.mostBytes {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
        throw SettingError("\(path): is longer than \(Self.mostBytes) bytes")
    }

    private func failure() -> SettingError {
        SettingError("\(path): cannot be read: \(String(cString: strerror(errno)))")
    }
}
