import Glibc

/// The mounted file systems (`/proc/self/mountinfo`, proc(5)).
struct MountTable {
    private var mounts: [(point: String, kind: String)] = []

    static var current: MountTable? {
        // The system itself provides this file, so other users cannot make it large.
        guard let bytes = try? DurableFile("/proc/self/mountinfo").bytes(limit: 16 * 1024 * 1024) else { return nil }
        return MountTable(String(decoding: bytes, as: UTF8.self))
    }

    /// Parses lines of the form `36 35 98:0 /root /point rw,noatime optional… - kind source options`.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let dash = fields.dropFirst(6).firstIndex(of: "-"), dash + 1 < fields.count else { continue }
            mounts.append((Self.unescaped(fields[4]), String(fields[dash + 1])))
        }
    }

    /// Returns the type of the file system that contains a path; nil when it is unknown.
    func kind(of path: String) -> String? {
        let path = Self.resolved(path)
        // If there are several mounts at the same point, the latest one is used.
        let found = mounts.enumerated().filter { Self.contains($0.element.point, path) }.max {
            ($0.element.point.utf8.count, $0.offset) < ($1.element.point.utf8.count, $1.offset)
        }
        return found?.element.kind
    }

    private static func contains(_ point: String, _ path: String) -> Bool {
        point == "/" || path == point || path.hasPrefix(point + "/")
    }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Decodes spaces and similar characters, which the table contains as a backslash and three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
