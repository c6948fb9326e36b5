import ClusterEngine
import Glibc
import SQLiteEngine
import StorageCore

/// The migration of a data directory into the PostgreSQL database of a cluster.
public struct EngineMigration {
    /// A table, and the number of its rows.
    public typealias Count = (name: String, rows: Int)

    private let directory: String
    private let url: String

    /// Creates a migration that has not run yet; see ``run(progress:)``.
    ///
    /// - Parameters:
    ///   - directory: the data directory of a stopped gateway.
    ///   - argument: the URL of the PostgreSQL database, from the command line; nil for the database of the settings.
    ///   - configuration: the settings.
    /// - Throws: `SettingError` when the argument contains a password, when no database is set, or when the settings are
    ///   invalid.
    public init(from directory: String, to argument: String?, _ configuration: Configuration) throws(SettingError) {
        var configuration = configuration
        if let argument {
            guard !DatabaseURL(argument).hasPassword else {
                throw SettingError(
                    "--to must not contain a password, because other accounts of the machine can read the arguments of a "
                        + "process; leave out --to, and set PARLEY_ENGINE, engine_file or PGPASSFILE")
            }
            (configuration.engineURL, configuration.engineFile) = (argument, "")
        }
        guard case .cluster(let url, _) = try configuration.store() else {
            throw SettingError(
                "no PostgreSQL database is set: pass --to, or set PARLEY_ENGINE or engine_file")
        }
        self.directory = directory
        self.url = url
    }

    /// Copies everything, and compares the copy with the original. Does not change the data directory. After an error,
    /// the database is as before.
    ///
    /// - Parameter progress: called with the name of a step, the number of processed rows and the total number.
    /// - Returns: the number of rows of each table.
    /// - Throws: `SettingError` when a gateway uses the data directory, when a restore did not finish, when the database
    ///   is not empty or has tables of another version, or when either cannot be used.
    public func run(
        progress: @escaping (_ step: String, _ done: Int, _ total: Int) -> Void
    ) async throws(SettingError) -> [Count] {
        if access(directory, F_OK) == 0 { try DataDirectory(at: directory).requireComplete() }
        do throws(MigrationFailure) {
            let contents = try SQLiteContents(path: DataDirectory.database(in: directory))
            return try await ClusterMigration(to: url).copy(from: contents) { step in
                switch step {
                case .copying(let table, let done, let total): progress("copying \(table.title)", done, total)
                case .comparing(let table, let done, let total): progress("comparing \(table.title)", done, total)
                }
            }.map { ($0.table.title, $0.rows) }
        } catch {
            throw SettingError(error.description)
        }
    }
}
