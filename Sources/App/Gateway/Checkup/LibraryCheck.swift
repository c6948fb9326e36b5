public import ChatModel
import Glibc
import HTTPClient
import HTTPServer
import JSON
import Signing
import SQLiteEngine

/// Checks the versions of the libraries on this machine. The versions may differ from the versions with which the
/// program was built.
struct LibraryCheck {
    private struct Library {
        let name: String
        let version: String
        /// The oldest version with which the gateway is tested.
        let least: String
    }

    private static let all = [
        Library(name: "libmicrohttpd", version: Server.libraryVersion, least: "0.9.75"),
        Library(name: "jansson", version: JSONDocument.libraryVersion, least: "2.14"),
        Library(name: "SQLite", version: StoreFile.libraryVersion, least: "3.40.0"),
        Library(name: "libcurl", version: Client.libraryVersion, least: "7.88.0"),
    ]

    var results: [CheckResult] {
        let found = Self.all.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
        let old = Self.all.filter { Self.isOlder($0.version, than: $0.least) }
        let versions =
            old.isEmpty
            ? CheckResult("libraries", .ok, found)
            : CheckResult(
                "libraries", .warning, found,
                advice: "older versions are not tested: install "
                    + old.map { "\($0.name) \($0.least) or newer" }.joined(separator: ", "))
        return [CheckResult("version", .ok, "Parley \(Product.version)"), versions] + sharing
    }

    /// Checks SQLite for "the WAL-reset bug" (<https://www.sqlite.org/wal.html>), which is fixed in 3.51.3, and in
    /// 3.50.7 and 3.44.6 of the older release lines.
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
                "SQLite \(version) may damage a database that two programs write at the same time; there is no danger while only Parley uses the database",
                advice: "do not open parley.db with another program, such as the sqlite3 shell, while a gateway runs")
        ]
    }

    /// Returns true when a version is older than another version. The numbers between dots are compared; text after
    /// them is ignored.
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

/// All checks of the machine and the data of a gateway. They do not need a running gateway.
public struct Diagnostics: Sendable {
    let configuration: Configuration
    let clock: WallClock
    /// True to check the whole database for damage.
    let isThorough: Bool

    /// Creates checks that have not run yet; see ``results()``.
    ///
    /// - Parameter isThorough: true to read the whole database, which takes long for a large database.
    public init(of configuration: Configuration, clock: WallClock = .system, isThorough: Bool = true) {
        self.configuration = configuration
        self.clock = clock
        self.isThorough = isThorough
    }

    /// Returns the results of all checks in a fixed order, including checks that found no problem.
    public func results() -> [CheckResult] {
        let data = DataCheck(path: configuration.dataDirectory)
        var findings = LibraryCheck().results + LimitCheck(configuration: configuration).results
        findings += CertificateCheck(configuration: configuration, clock: clock).results
        guard !configuration.isCluster else {
            return findings + [
                CheckResult(
                    "engine", .ok, "the data is in PostgreSQL, which is not checked here",
                    advice: "'parley engine check' checks the database and the bus")
            ]
        }
        findings += data.results
        guard data.hasDatabase else { return findings }
        let vault: Vault
        do {
            vault = try configuration.vault()
        } catch {
            return findings + [CheckResult("secrets", .failure, error.description)]
        }
        return findings
            + StoreCheck(path: data.database, vault: vault, clock: clock, isThorough: isThorough).results
    }

    /// True when a gateway in any process is using the data directory; nil when there is no database, and for a cluster.
    public var isServed: Bool? {
        configuration.isCluster ? nil : DataCheck(path: configuration.dataDirectory).isServed
    }
}

/// The result of one check.
public struct CheckResult: Sendable, Equatable {
    /// The outcome of a check. The cases are ordered from the best to the worst.
    public enum Status: String, Sendable {
        case ok
        /// The checked part works, but the operator should know about the finding.
        case warning
        /// The checked part does not work, or will soon stop working.
        case failure
    }

    /// The name of the check: a short word that is the same in every version.
    public var check: String
    /// The outcome.
    public var status: Status
    /// The finding in one sentence for the operator.
    public var text: String
    /// The remedy; nil when no action is needed.
    public var advice: String?

    /// Creates the result of a check. `text` is one sentence about the finding.
    public init(_ check: String, _ status: Status, _ text: String, advice: String? = nil) {
        self.check = check
        self.status = status
        self.text = text
        self.advice = advice
    }
}

/// Compares the system's limits for this process with the settings.
struct LimitCheck {
    let configuration: Configuration

    /// The number of descriptors for everything except connections, such as files and threads, with a reserve for
    /// short-lived descriptors.
    private static let others = 344

    var results: [CheckResult] {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return [] }
        // The hard limit is compared, because a gateway raises the soft limit to the hard limit at the start.
        let most = Int(clamping: limit.rlim_max)
        let needed =
            configuration.connections + configuration.limits.streamsInGateway + configuration.webhookConnections
            + Self.others
        guard most < needed else {
            return [CheckResult("descriptors", .ok, "\(Self.text(most)) open files are allowed")]
        }
        return [
            CheckResult(
                "descriptors", .warning,
                "\(most) open files are allowed here; connections, limits.streams and webhook.connections may need \(needed)",
                advice: "raise the limit (ulimit -n, LimitNOFILE= of systemd) or lower limits.streams; "
                    + "the limit of a service may differ from that of this shell")
        ]
    }

    private static func text(_ count: Int) -> String { count > 1_000_000_000 ? "any number of" : "\(count)" }
}
