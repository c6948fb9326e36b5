import Glibc

/// A folder that is removed with its owner.
public final class TemporaryFolder: Sendable {
    struct Failure: Error {}

    public let path: String
    /// The path of a store's file.
    public var database: String { path + "/parley.db" }

    public init() throws {
        var template = Array("/tmp/parley-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder. Errors are ignored: a leftover in /tmp does no harm.
    deinit { remove() }

    /// Removes the folder before the owner is released, for instance when the process exits.
    public func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        if let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                // A link is removed, not followed.
                if name != ".", name != "..", unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
            }
            closedir(folder)
        }
        rmdir(path)
    }
}
