import Glibc

/// The pages of code that the start needed: three quarters of what a gateway without work would have in memory.
///
/// They are clean copies of files, and the system could take them away itself, but does so only under pressure, and counts
/// them as the gateway's until then. What runs afterwards comes back with its first use, from the system's cache.
enum StartupMemoryTrim {
    /// Lets go of them. Only of what cannot have been written: pages that the loader has changed would come back as they
    /// lie in the file.
    static func release() {
        // Without the table nothing is let go of, which is no harm.
        guard let table = try? DurableFile("/proc/self/maps").bytes(limit: 4 * 1024 * 1024) else { return }
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            guard let (start, length) = codeOfFile(line) else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: start), length, MADV_DONTNEED)
        }
    }

    /// `7f00-7f10 r-xp 00000000 fe:00 1234 /usr/bin/parley`
    static func codeOfFile(_ line: Substring) -> (start: UInt, length: Int)? {
        let fields = line.split(separator: " ")
        guard fields.count > 5, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
        return (bounds[0], Int(bounds[1] - bounds[0]))
    }
}
