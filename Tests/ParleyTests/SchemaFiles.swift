import FoundationEssentials

/// Files in a folder of their own, which goes away with the value.
final class SchemaFiles {
    private let folder: String

    init(_ files: [String: String] = [:]) throws {
        folder = FileManager.default.temporaryDirectory.path + "/parley-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files { try write(name, text) }
    }

    deinit {
        // What cannot be removed stays in the folder for such things.
        try? FileManager.default.removeItem(atPath: folder)
    }

    subscript(name: String) -> String { folder + "/" + name }

    func write(_ name: String, _ text: String) throws {
        let path = self[name]
        if let end = path.lastIndex(of: "/") {
            try FileManager.default.createDirectory(
                atPath: String(path[..<end]), withIntermediateDirectories: true)
        }
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
