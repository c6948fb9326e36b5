public import ChatModel
import ClusterEngine
import Logging

/// The database and the bus of a cluster, for commands that check or change them. They do not need a running gateway.
public struct ClusterServers: Sendable {
    private let url: String
    private let bus: BusSettings?
    private let readers: Int

    /// Finds the servers in the settings. Opens no connection.
    ///
    /// - Throws: `SettingError` for invalid settings, and for settings of a gateway with a data directory.
    public init(_ configuration: Configuration) throws(SettingError) {
        guard case .cluster(let url, let bus) = try configuration.store() else {
            throw SettingError(
                "engine is not set: pass the URL of the cluster's database with --engine, PARLEY_ENGINE or engine_file")
        }
        self.url = url
        self.bus = bus
        readers = configuration.engineConnections
    }

    /// Returns the results of all checks in a fixed order, including checks that found no problem.
    public func check() async -> [CheckResult] {
        await ClusterInspection(url: url, bus: bus, readers: readers).findings().map { finding in
            let status: CheckResult.Status =
                switch finding.severity {
                case .ok: .ok
                case .warning: .warning
                case .failure: .failure
                }
            return CheckResult(finding.check, status, finding.text, advice: finding.advice)
        }
    }

    /// Creates or upgrades the tables. Returns their version, and the oldest version that a node may know.
    ///
    /// - Parameter isLast: true to remove what only nodes of the version before need.
    /// - Throws: `SettingError` when the database cannot be used, or nodes run that the change would stop.
    public func upgrade(isLast: Bool = false) async throws(SettingError) -> (version: Int, oldest: Int) {
        do throws(ClusterEngineFailure) {
            return try await ClusterEngine.upgrade(url: url, isLast: isLast, logger: Logger(label: "store"))
        } catch {
            throw SettingError(error.description)
        }
    }

    /// Records that the database was restored from a backup or copied. No node may run.
    ///
    /// - Parameter isComplete: true if the database has all events of the original.
    /// - Returns: the interval whose events are lost; nil for a complete copy.
    /// - Throws: `SettingError` when a node runs, and when the database cannot be used.
    public func recordRestore(
        isComplete: Bool
    ) async throws(SettingError) -> (after: Timetoken, upTo: Timetoken)? {
        do throws(ClusterEngineFailure) {
            return try await ClusterRestore(url: url).record(isComplete: isComplete).map { ($0.after, $0.upTo) }
        } catch {
            throw SettingError(error.description)
        }
    }
}
