import Glibc

/// Words for the person at the terminal, apart from the log: to stderr, as plain lines.
enum Terminal {
    /// Whether there is a person: neither a file, a journal nor a log collector.
    static var isWatched: Bool { isatty(2) == 1 }

    static func say(_ line: String) {
        var line = line + "\n"
        // A terminal that is gone has nobody to be told.
        line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    }
}
