import ChatModel
import Logging
import Postgres
import PostgresSupport
import StorageCore
import Testing
import TestSupport

@testable import ClusterEngine

@Suite(
    "A synchronous standby of a cluster", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct StandbyTests {
    @Test("has every commit that is reported as stored")
    func commitWithoutStandby() async throws {
        let server = try await PostgresServer()
        let info = try await server.makeDatabase()
        let store = try await openStore(info)
        let transaction = try await store.begin()
        var head = transaction.head
        head.commit += 1
        try await transaction.commit(StoreChanges(head: head, now: .zero))
        #expect(try await store.isCommitted(transaction))
        // The commit is on the disk of the server, which then waits for a standby that is away.
        let observer = try await Connection.open(ConnectionSettings(connectionInfo: info, deadline: waitLimit))
        _ = try await observer.run([Statement("ALTER SYSTEM SET synchronous_standby_names = 'away'")])
        _ = try await observer.run([Statement("SELECT pg_reload_conf()")])
        await observer.close()
        await waitUntil {
            let session = try? await Connection.open(ConnectionSettings(connectionInfo: info, deadline: waitLimit))
            let rows = try? await session?.run([Statement("SELECT current_setting('synchronous_standby_names')")])
            return rows?[0].text(0, 0) == "away"
        }
        let later = PostgresStore(
            ConnectionSettings(connectionInfo: info, deadline: .seconds(2)), installation: store.installation,
            readers: 1, logger: Logger(label: "test"))
        await #expect(throws: StoreFailure.self) { try await later.isCommitted(transaction) }
        await later.close()
        await store.close()
        await server.stop()
    }
}
