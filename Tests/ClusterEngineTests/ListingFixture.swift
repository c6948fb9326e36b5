import ChatModel
import JSON
import Logging
import Postgres
import PostgresSupport
import SQLiteEngine
import TestSupport
import Testing

@testable import ClusterEngine

/// The same records in a database of PostgreSQL and in a SQLite engine.
struct ListingFixture {
    let app = AppID("app")
    let connection: Connection
    let engine: SQLiteEngine

    init() async throws {
        connection = try await Connection.open(
            ConnectionSettings(
                connectionInfo: try await PostgresServer.shared().makeDatabase(), deadline: waitLimit))
        engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", logger: Self.quiet))
        _ = try await ClusterSchema.current.prepare(connection, role: "postgres")
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    func json(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

    /// Writes records with the SQLite engine, and copies them to PostgreSQL.
    func write(_ changes: [RecordChange]) async throws {
        let records = try await engine.directory.write(changes)
        let insert = """
            INSERT INTO record(app, kind, id, parent, revision, updated, body, tag) VALUES ($1, $2, $3, $4, 1, $5, $6, $7)
            """
        _ = try await connection.run(
            records.map { record in
                Statement(
                    insert,
                    [
                        .text(record.key.app.name), .integer(Int64(record.key.kind.rawValue)), .text(record.key.id),
                        record.parent.map { .text($0) } ?? .null, .integer(Int64(record.updated.rawValue)),
                        .text(record.body.description),
                        .integer(Int64(bitPattern: UInt64(record.etag, radix: 16) ?? 0)),
                    ])
            })
    }

    /// Writes thirty users, u0 … u29.
    func fillPeople() async throws {
        try await write(
            (0..<30).map { number in
                let team = ["null", #""red""#, #""blue""#, #""green""#][number % 4]
                let body =
                    #"{"name":"Name \#(number)","age":\#(number),"vip":\#(number % 3 == 0),"custom":{"team":\#(team)}}"#
                return RecordChange(
                    RecordKey(.user, "u\(number)", in: app), body: json(body),
                    parent: number % 2 == 0 ? "even" : "odd")
            })
    }

    /// Lists records from PostgreSQL.
    func list(_ query: RecordQuery) async throws -> Page<Record> {
        let listing = try RecordListing(query)
        let results = try await connection.run(
            query.wantsTotal ? [listing.rows, listing.total] : [listing.rows])
        return listing.page(results[0], total: query.wantsTotal ? results[1] : nil)
    }

    /// Returns the ids of all pages.
    func listAll(_ query: RecordQuery) async throws -> [String] {
        var query = query
        var ids: [String] = []
        while true {
            let page = try await list(query)
            #expect(page.items.count <= query.limit)
            #expect(page.hasMore == (page.cursor != nil))
            ids += page.items.map(\.key.id)
            guard let cursor = page.cursor else { return ids }
            query.cursor = cursor
        }
    }

    func close() async {
        await connection.close()
        await engine.close()
    }
}
