import ChatModel
import ClusterEngine
import Logging
import SQLiteEngine

/// The place of a gateway's data: a directory of this machine, or a PostgreSQL database that several nodes share.
enum GatewayStore: Equatable {
    case directory(String)
    /// A PostgreSQL database, and the NATS servers over which its nodes notify each other.
    case cluster(url: String, bus: BusSettings?)

    /// Opens the store. Creates its directory or its tables if they do not exist.
    ///
    /// - Throws: `SettingError` when the data directory cannot be used; the errors of the engine.
    func open(_ configuration: Configuration) async throws -> OpenStore {
        let logger = Logger(label: "store")
        switch self {
        case .directory(let path):
            let data = try DataDirectory(at: path)
            try data.requireComplete()
            let engine = try await SQLiteEngine(
                SQLiteEngineSettings(path: data.database, limits: configuration.limits, logger: logger))
            return OpenStore(engine: engine, presence: nil, clock: .system)
        case .cluster(let url, let bus):
            var settings = ClusterEngineSettings(limits: configuration.limits, logger: logger)
            settings.readers = configuration.engineConnections
            let engine = try await ClusterEngine(url: url, bus: bus, settings: settings)
            return OpenStore(engine: engine, presence: engine.presence, clock: engine.clock)
        }
    }

    /// Opens the store like ``open(_:)``. While PostgreSQL is unavailable, waits for it.
    ///
    /// - Parameter whenWaiting: called with the reason before the first wait, and when the reason changes.
    /// - Throws: the errors of ``open(_:)`` that a wait cannot cure, and of `whenWaiting`; `CancellationError` when the
    ///   task is cancelled while it waits.
    func openWhenAvailable(
        _ configuration: Configuration, logger: Logger, whenWaiting: (String) async throws -> Void
    ) async throws -> OpenStore {
        var reported: String?
        var pause = Self.shortestPause
        while true {
            do {
                let store = try await open(configuration)
                if reported != nil { logger.notice("PostgreSQL can be used") }
                return store
            } catch let failure as ClusterEngineFailure where failure.reason == .unavailable {
                if reported != failure.description { try await whenWaiting(failure.description) }
                reported = failure.description
                try await Task.sleep(for: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// The first pause between two attempts to open the store. Each pause is twice as long as the one before.
    private static let shortestPause: Duration = .milliseconds(250)
    /// The longest pause between two attempts to open the store.
    private static let longestPause: Duration = .seconds(4)

    /// Requires that a data directory contains the data of a gateway. The data of a cluster is not checked.
    ///
    /// - Throws: ``missingData``.
    func requireData() throws(SettingError) {
        guard case .directory(let path) = self else { return }
        guard StoreFile(at: DataDirectory.database(in: path)).exists else { throw missingData }
    }

    /// The error when the store does not contain the data of a gateway.
    var missingData: SettingError {
        switch self {
        case .directory(let path):
            SettingError("data: '\(path)' does not contain a gateway's data; pass the right directory with --data")
        case .cluster:
            SettingError("engine: the database does not contain a gateway's data; pass the right URL with --engine")
        }
    }
}

/// A store that is open.
struct OpenStore {
    let engine: any Engine
    /// The presence of a cluster; nil to keep presence in the memory of this process.
    let presence: (any PresenceStore)?
    /// The clock of all parts of the gateway. The nodes of a cluster have the same time, even if their own clocks differ.
    let clock: WallClock
}

extension Configuration {
    /// The place of the data.
    ///
    /// - Throws: `SettingError` for settings that contradict each other, and for invalid URLs. The error does not
    ///   contain the URL of the database, because it may contain a password.
    func store() throws(SettingError) -> GatewayStore {
        guard engineURL.isEmpty || engineFile.isEmpty else {
            throw SettingError("engine and engine_file must not both be set: remove one of them")
        }
        for server in busServers where !server.hasPrefix("nats://") && !server.hasPrefix("tls://") {
            throw SettingError("bus: each server must begin with nats:// or tls://, such as nats://n1:4222")
        }
        for server in busServers where server.contains("@") {
            throw SettingError("bus: the URL of a server must not contain credentials")
        }
        let setting = engineFile.isEmpty ? "engine" : "engine_file"
        let url = engineFile.isEmpty ? engineURL : String(try KeyFile(path: engineFile).text().prefix { !$0.isNewline })
        guard !url.isEmpty else {
            guard engineFile.isEmpty else { throw SettingError("engine_file: '\(engineFile)' is empty") }
            guard busServers.isEmpty else {
                throw SettingError("bus is for a cluster: set engine to a PostgreSQL database, or remove bus")
            }
            return .directory(dataDirectory)
        }
        guard DatabaseURL(url).isPostgres else {
            throw SettingError(
                "\(setting) must be the URL of a PostgreSQL database, such as postgres://parley@db1,db2/parley")
        }
        return .cluster(url: url, bus: try bus())
    }

    /// The bus of a cluster; nil without one.
    private func bus() throws(SettingError) -> BusSettings? {
        let files = [busCredentialsFile, busAuthoritiesFile, busCertificateFile, busKeyFile]
            .map { $0.isEmpty ? nil : $0 }
        guard !busServers.isEmpty else {
            guard files.allSatisfy({ $0 == nil }) else {
                throw SettingError("the files of the bus need its servers: set bus, or remove the settings bus_*_file")
            }
            return nil
        }
        guard (files[2] == nil) == (files[3] == nil) else {
            throw SettingError("bus_certificate_file and bus_key_file must be set together: set both or neither")
        }
        var bus = BusSettings(servers: busServers)
        bus.credentialsFile = files[0]
        bus.authoritiesFile = files[1]
        bus.certificateFile = files[2]
        bus.keyFile = files[3]
        return bus
    }

    /// True when several nodes may share the data.
    public var isCluster: Bool { !engineURL.isEmpty || !engineFile.isEmpty }
}

/// The URL of a PostgreSQL database.
struct DatabaseURL {
    private let text: String

    init(_ text: String) { self.text = text }

    var isPostgres: Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

    /// True when the URL contains a password: `postgres://user:password@host/…`, or the parameter `password`.
    var hasPassword: Bool {
        guard let start = text.firstRange(of: "://")?.upperBound else { return text.contains("password=") }
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" }
        let user = authority.lastIndex(of: "@").map { authority[..<$0] }
        return user?.contains(":") == true || text.contains("password=")
    }
}
