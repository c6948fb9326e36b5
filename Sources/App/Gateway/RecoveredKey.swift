import ChatCore
import ChatModel
import Locking
import Logging
import SQLiteEngine

/// A new admin key of the first app, made in the data directory of a gateway that does not run: for who is locked out. Whoever may
/// read and write that directory could as well read what is in it.
public struct RecoveredKey: Sendable {
    public let app: String
    public let id: String
    /// Shown this once.
    public let text: String

    /// Makes the key.
    ///
    /// - Throws: where no gateway has ever been started on the directory, one runs on it, or its store cannot be used.
    public init(_ configuration: Configuration) async throws {
        let missing = SettingError("data: there is no gateway in '\(configuration.dataDirectory)'; name its directory")
        guard StoreFile(at: configuration.dataDirectory + "/" + DataDirectory.databaseName).exists else {
            throw missing
        }
        let data = try DataDirectory(at: configuration.dataDirectory)
        try data.demandWhole()
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: data.database, limits: configuration.limits, logger: Logger(label: "store")))
        do {
            guard let executor = ThreadExecutor(name: "recover") else {
                throw SettingError("no thread can be started")
            }
            let service = ChatService(
                engine: engine, limits: configuration.limits, vault: try configuration.vault(), executor: executor)
            guard let issued = try await service.recoverAdminKey() else { throw missing }
            (app, id, text) = (issued.key.app.name, issued.key.id, issued.text)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }
}
