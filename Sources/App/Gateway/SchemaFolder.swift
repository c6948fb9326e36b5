import ChatCore
import ChatModel
import Glibc
import Logging

/// The directory with files that declare event types (`EventTypeDeclaration`). It is read at the start and on SIGHUP.
struct SchemaFolder {
    let path: String
    let limits: Limits

    /// Applies the declarations in the files to the first app.
    ///
    /// - Throws: `DeclarationError` with the file and the position of the error. No declaration is then applied.
    func apply(to service: ChatService, logger: Logger) async throws(DeclarationError) {
        guard let app = service.keyring.apps.first(where: \.isFirst) else { return }
        let applied = try await service.eventTypes.apply(try declarations(), to: app.id)
        for one in applied where one.isNewVersion {
            logger.notice(
                "schema version declared from a file", metadata: ["type": "\(one.name)", "version": "\(one.version)"])
        }
        logger.info("event types read from a directory", metadata: ["path": "\(path)", "types": "\(applied.count)"])
    }

    /// Returns the declarations in all `.json` files, ordered by file name. Hidden files and other files are ignored.
    func declarations() throws(DeclarationError) -> [EventTypeDeclaration] {
        let files = try names().filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard files.count <= limits.typesPerApp else {
            throw DeclarationError(path, "an app may declare at most \(limits.typesPerApp) event types")
        }
        var declarations: [EventTypeDeclaration] = []
        for file in files {
            declarations.append(try EventTypeDeclaration(file: file, try read(file), limits: limits))
        }
        return declarations
    }

    private func names() throws(DeclarationError) -> [String] {
        guard let handle = opendir(path) else { throw failure(path) }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            // `d_name` is read in place and not copied, because an entry is only as long as its name, and `dirent` is
            // longer.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
            names.append(String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)))
        }
        return names
    }

    private func read(_ file: String) throws(DeclarationError) -> [UInt8] {
        let descriptor = open(path + "/" + file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(file) }
        defer { close(descriptor) }
        let most = EventTypeDeclaration.mostBytes(limits)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(file) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= most else { throw DeclarationError(file, "is longer than \(most) bytes") }
        }
    }

    private func failure(_ file: String) -> DeclarationError {
        DeclarationError(file, "cannot be read: \(String(cString: strerror(errno)))")
    }
}
