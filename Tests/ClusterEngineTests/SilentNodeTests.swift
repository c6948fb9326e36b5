import ChatModel
import Logging
import Postgres
import PostgresSupport
import StorageCore
import Testing
import TestSupport

@testable import ClusterEngine

/// Opens the store of a node.
func openStore(_ info: String, deadline: Duration = waitLimit) async throws -> PostgresStore {
    try await PostgresStore.open(
        ConnectionSettings(connectionInfo: info, deadline: deadline), readers: 1, logger: Logger(label: "test"))
}

@Suite(
    "A silent node of a cluster", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct SilentNodeTests {
    @Test("loses the lane after half of its deadline, at most two seconds")
    func silentNode() async throws {
        let info = try await PostgresServer.shared().makeDatabase()
        let other = try await openStore(info)
        let silent = try await openStore(info, deadline: .seconds(3))
        let held = try await silent.begin()
        let start = ContinuousClock.now
        let next = try await other.begin()
        #expect(ContinuousClock.now - start < .seconds(5))
        await next.rollback()
        await #expect(throws: StoreFailure.self) { try await held.read(Lookup(events: [.zero])) }
        let settings = try await other.pool.run([
            Statement(
                """
                SELECT current_setting('idle_in_transaction_session_timeout'), current_setting('statement_timeout')
                """)
        ])[0]
        #expect(settings.text(0, 0) == "2s" && settings.text(0, 1) == "\(Int(waitLimit / .seconds(1)))s")
        await silent.close()
        await other.close()
    }
}
