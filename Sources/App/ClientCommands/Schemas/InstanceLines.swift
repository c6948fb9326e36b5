/// The documents of a file, one on each line.
enum InstanceLines {
    /// What a file of documents may hold; all of it is kept in memory.
    private static let limit = 1 << 30

    /// The lines of a file, or of the standard input (`-`), without their LF. What follows the last LF is a line only when it is not empty.
    static func read(_ file: String) throws(CommandFailure) -> [[UInt8]] {
        let bytes = try InputText.source(file, limit: limit)
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard !lines.isEmpty else { throw CommandFailure("\(InputText.title(of: file)) holds no documents") }
        return lines
    }
}
