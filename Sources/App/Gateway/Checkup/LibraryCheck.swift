import ChatModel
import HTTPClient
import HTTPServer
import JSON
import SQLiteEngine

/// The libraries as they are on this machine, which need not be those the program was built with.
struct LibraryCheck {
    private struct Library {
        let name: String
        let version: String
        /// The oldest the gateway is tested with.
        let least: String
    }

    private static let all = [
        Library(name: "libmicrohttpd", version: Server.libraryVersion, least: "0.9.75"),
        Library(name: "jansson", version: JSONDocument.libraryVersion, least: "2.14"),
        Library(name: "SQLite", version: StoreFile.libraryVersion, least: "3.40.0"),
        Library(name: "libcurl", version: Client.libraryVersion, least: "7.88.0"),
    ]

    var findings: [CheckResult] {
        let found = Self.all.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
        let old = Self.all.filter { Self.isOlder($0.version, than: $0.least) }
        let versions =
            old.isEmpty
            ? CheckResult("libraries", .ok, found)
            : CheckResult(
                "libraries", .warning, found,
                advice: "not tested with these: install "
                    + old.map { "\($0.name) \($0.least) or newer" }.joined(separator: ", "))
        return [CheckResult("version", .ok, "Parley \(Product.version)"), versions] + sharing
    }

    /// <https://www.sqlite.org/wal.html>, "the WAL-reset bug": fixed in 3.51.3, and in 3.50.7 and 3.44.6 of older lines.
    private var sharing: [CheckResult] {
        let version = StoreFile.libraryVersion
        let isFixed =
            !Self.isOlder(version, than: "3.51.3")
            || (version.hasPrefix("3.50.") && !Self.isOlder(version, than: "3.50.7"))
            || (version.hasPrefix("3.44.") && !Self.isOlder(version, than: "3.44.6"))
        guard !isFixed else { return [] }
        return [
            CheckResult(
                "sqlite_sharing", .ok,
                "SQLite \(version) may damage a file that two programs write at once; Parley writes it with one connection",
                advice: "let no other program write parley.db while a gateway runs, the sqlite3 shell included")
        ]
    }

    /// By numbers between dots; what follows them does not count.
    static func isOlder(_ version: String, than other: String) -> Bool {
        func numbers(_ text: String) -> [Int] {
            text.split(separator: ".").map { part in Int(part.prefix { $0.isNumber }) ?? 0 }
        }
        let (left, right) = (numbers(version), numbers(other))
        for index in 0..<max(left.count, right.count) {
            let (a, b) = (index < left.count ? left[index] : 0, index < right.count ? right[index] : 0)
            if a != b { return a < b }
        }
        return false
    }
}
