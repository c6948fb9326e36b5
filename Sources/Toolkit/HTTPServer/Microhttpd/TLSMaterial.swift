import Glibc

/// A certificate chain and its private key, each as PEM text that ends with a NUL.
struct TLSMaterial {
    let certificate: [CChar]
    let key: [CChar]

    init(_ files: ServerOptions.TLSFiles) throws(ServerError) {
        certificate = try Self.text(of: files.certificatePath)
        key = try Self.text(of: files.keyPath)
    }

    private static func text(of path: String) throws(ServerError) -> [CChar] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadableFile(path: path, code: errno) }
        defer { close(descriptor) }
        var text: [CChar] = []
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        while text.count < 1024 * 1024 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw .unreadableFile(path: path, code: errno) }
            guard count > 0 else { break }
            text.append(contentsOf: buffer[..<count])
        }
        text.append(0)
        return text
    }
}
