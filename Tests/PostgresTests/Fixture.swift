import Postgres
import PostgresSupport
import TestSupport
import Testing

/// Opens a connection to a new database of the shared server.
func openDatabase(
    _ change: (inout ConnectionSettings) -> Void = { _ in }
) async throws -> (connection: Connection, settings: ConnectionSettings) {
    var settings = ConnectionSettings(
        connectionInfo: try await PostgresServer.shared().makeDatabase(), deadline: waitLimit)
    change(&settings)
    return (try await Connection.open(settings), settings)
}

/// Returns the failure of a call; records an issue if it succeeds.
func failure(
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    of body: () async throws(PostgresFailure) -> some Any
) async throws -> PostgresFailure {
    do throws(PostgresFailure) { _ = try await body() } catch { return error }
    Issue.record(comment ?? "no failure", sourceLocation: sourceLocation)
    throw Missing()
}

private struct Missing: Error {}

extension Connection {
    /// Runs one statement.
    @discardableResult
    func run(_ text: String, _ parameters: Value...) async throws(PostgresFailure) -> Rows {
        try await run([Statement(text, parameters)])[0]
    }
}
