import ChatModel
import Postgres
import StorageCore

/// The connections of the parts of a node that work on PostgreSQL directly: the delivery queue and presence.
struct ClusterDatabase: Sendable {
    /// The settings of the connections that write.
    let settings: ConnectionSettings
    /// The connections that read.
    let pool: ConnectionPool

    /// Adds a node with a lease, and returns its number.
    ///
    /// - Parameter version: the newest version of the tables that the node knows.
    func register(lease: Duration, version: Int) async throws(StoreFailure) -> Int64 {
        let rows = try await pool.run([
            Statement(
                "INSERT INTO node(lease_until, version) VALUES (\(LaneRow.databaseTime) + $1, $2) RETURNING id",
                [.integer(lease.timetokenTicks), .integer(Int64(version))])
        ])[0]
        return rows.integer(0, 0) ?? 0
    }

    /// The positions of all cursors.
    func cursors() async throws(StoreFailure) -> [(CursorName, Timetoken)] {
        let rows = try await pool.run([Statement("SELECT name, tt FROM cursor")])[0]
        return (0..<rows.count).map { row in
            (CursorName(rows.text(row, 0) ?? ""), rows.timetoken(row, 1) ?? .zero)
        }
    }
}
