import Postgres
import PostgresSupport
import TestSupport
import Testing

@Suite("A run", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation)) struct RunTests {
    @Test("returns the value of every kind of parameter")
    func values() async throws {
        let (connection, _) = try await openDatabase()
        let text = "zwölf 🐍 'quoted' \\ \u{1}"
        let rows = try await connection.run(
            """
            SELECT $1::bigint, $2::text, $3::bytea, $4::boolean, $5::double precision, $6::int, $1::smallint,
                $7::text, $8::bytea, $9::boolean, $10::real
            """, .integer(-7), .text(text), .bytes([0, 255, 7]), .boolean(true), .double(-2.5), .null, .text(""),
            .bytes([]), .boolean(false), .double(1.5))
        #expect(rows.count == 1)
        #expect(rows.integer(0, 0) == -7)
        #expect(rows.text(0, 1) == text)
        #expect(rows.bytes(0, 2) == [0, 255, 7])
        #expect(rows.boolean(0, 3) == true)
        #expect(rows.double(0, 4) == -2.5)
        #expect(rows.isNull(0, 5) && rows.integer(0, 5) == nil)
        #expect(rows.integer(0, 6) == -7)
        #expect(!rows.isNull(0, 7) && rows.text(0, 7) == "")
        #expect(!rows.isNull(0, 8) && rows.bytes(0, 8) == [])
        #expect(rows.boolean(0, 9) == false)
        #expect(rows.double(0, 10) == 1.5)
        let edges = try await connection.run(
            "SELECT $1::bigint, $2::bigint, $3::jsonb, $3::json, $3::varchar", .integer(.min), .integer(.max),
            .text(#"{"a": 1}"#))
        #expect(edges.integer(0, 0) == .min && edges.integer(0, 1) == .max)
        for column in 2...4 { #expect(edges.text(0, column) == #"{"a": 1}"#) }
    }

    @Test("returns arrays with nulls, and empty ones")
    func arrays() async throws {
        let (connection, _) = try await openDatabase()
        let cases: [([Int64?], [String?], [[UInt8]?])] = [
            ([1, nil, .min], ["a", nil, "", "ß"], [[0, 1], nil, []]), ([], [], []), ([5], ["x"], [[9]]),
            ([nil], [nil], [nil]),
        ]
        for (integers, texts, byteStrings) in cases {
            let rows = try await connection.run(
                "SELECT $1::bigint[], $2::text[], $3::bytea[], NULL::bigint[]", .integers(integers), .texts(texts),
                .byteStrings(byteStrings))
            #expect(rows.integers(0, 0) == integers)
            #expect(rows.texts(0, 1) == texts)
            #expect(rows.byteStrings(0, 2) == byteStrings)
            #expect(rows.integers(0, 3) == nil)
        }
        let unnested = try await connection.run(
            "SELECT * FROM unnest($1::bigint[], $2::text[])", .integers([1, 2]), .texts(["a", nil]))
        #expect(unnested.count == 2)
        #expect(unnested.integer(1, 0) == 2 && unnested.text(0, 1) == "a" && unnested.isNull(1, 1))
    }

    @Test("transfers values of 1 MiB, and more than the socket's buffers in both directions at once")
    func large() async throws {
        let (connection, _) = try await openDatabase()
        let bytes = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try await connection.run("SELECT $1::bytea", .bytes(bytes)).bytes(0, 0) == bytes)
        let results = try await connection.run(
            (0..<500).map {
                Statement("SELECT $1::bigint, $2::bytea", [.integer($0), .bytes(Array(bytes[..<20_000]))])
            }
        )
        #expect(results.enumerated().allSatisfy { $1.integer(0, 0) == Int64($0) && $1.bytes(0, 1)?.count == 20_000 })
    }

    @Test("reports the affected rows and the tag")
    func affected() async throws {
        let (connection, _) = try await openDatabase()
        let results = try await connection.run([
            Statement("CREATE TABLE t(i int)"), Statement("INSERT INTO t SELECT generate_series(1, 5)"),
            Statement("UPDATE t SET i = i WHERE i > 2"), Statement("DELETE FROM t RETURNING i"), Statement(""),
        ])
        #expect(results.map(\.affected) == [0, 5, 3, 5, 0])
        #expect(results.map(\.count) == [0, 0, 0, 5, 0])
        #expect(results.map(\.tag) == ["CREATE TABLE", "INSERT 0 5", "UPDATE 3", "DELETE 5", ""])
        #expect(try await connection.run([]).isEmpty)
    }

    @Test("continues the transaction that an earlier run has opened")
    func transaction() async throws {
        let (connection, settings) = try await openDatabase()
        try await connection.run("CREATE TABLE account(id int PRIMARY KEY, balance bigint)")
        try await connection.run("INSERT INTO account VALUES (7, 100)")
        let other = try await Connection.open(settings)
        let first = try await connection.run([
            Statement("BEGIN"), Statement("SELECT balance FROM account WHERE id = $1 FOR UPDATE", [.integer(7)]),
        ])
        let balance = try #require(first[1].integer(0, 0))
        let locked = try await failure {
            () async throws(PostgresFailure) in try await other.run("SELECT 1 FROM account FOR UPDATE NOWAIT")
        }
        #expect(locked.sqlState == "55P03")
        try await connection.run("UPDATE account SET balance = $1", .integer(balance - 1))
        #expect(try await other.run("SELECT balance FROM account").integer(0, 0) == 100)
        _ = try await connection.run([Statement("UPDATE account SET balance = balance - 1"), Statement("COMMIT")])
        #expect(try await other.run("SELECT balance FROM account").integer(0, 0) == 98)
    }

    @Test("names the statement that fails, skips those after it, and leaves the connection usable")
    func failing() async throws {
        let (connection, _) = try await openDatabase()
        try await connection.run("CREATE TABLE t(i int PRIMARY KEY)")
        let failed = try await failure { () async throws(PostgresFailure) in
            try await connection.run([
                Statement("BEGIN"), Statement("INSERT INTO t VALUES (1)"), Statement("INSERT INTO t VALUES (1)"),
                Statement("INSERT INTO t VALUES (2)"), Statement("COMMIT"),
            ])
        }
        #expect(failed.kind == .rejected && failed.isConnectionUsable)
        #expect(failed.statementIndex == 2)
        #expect(failed.sqlState == "23505")
        #expect(failed.message.contains("t_pkey"))
        let aborted = try await failure { () async throws(PostgresFailure) in try await connection.run("SELECT 1") }
        #expect(aborted.sqlState == "25P02")
        #expect(try await connection.run("COMMIT").tag == "ROLLBACK")
        #expect(try await connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
    }

    @Test("without BEGIN is one transaction")
    func implicitTransaction() async throws {
        let (connection, _) = try await openDatabase()
        try await connection.run("CREATE TABLE t(i int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        let failed = try await failure { () async throws(PostgresFailure) in
            try await connection.run([Statement("INSERT INTO t VALUES (1)"), Statement("SELECT 1 / 0")])
        }
        #expect(failed.statementIndex == 1 && failed.sqlState == "22012")
        let uncommitted = try await failure("the commit fails") { () async throws(PostgresFailure) in
            try await connection.run([Statement("INSERT INTO t VALUES (1)"), Statement("INSERT INTO t VALUES (1)")])
        }
        #expect(uncommitted.statementIndex == nil && uncommitted.sqlState == "23505")
        #expect(uncommitted.isConnectionUsable)
        #expect(try await connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
    }

    @Test("prepares a statement again whose pipeline failed, before or after it")
    func preparedInFailure() async throws {
        let (connection, _) = try await openDatabase()
        let (good, other) = (Statement("SELECT 41 + 1"), Statement("SELECT $1::bigint", [.integer(3)]))
        for statements in [[good, Statement("SELECT 1 / 0"), other], [Statement("SELECT nothing"), other, good]] {
            let failed = try await failure {
                () async throws(PostgresFailure) in try await connection.run(statements)
            }
            #expect(failed.statementIndex == (statements[0] == good ? 1 : 0))
            let results = try await connection.run([good, other])
            #expect(results[0].integer(0, 0) == 42 && results[1].integer(0, 0) == 3)
        }
    }

    @Test("prepares a statement again whose columns have changed")
    func changedColumns() async throws {
        let (connection, _) = try await openDatabase()
        try await connection.run("CREATE TABLE t(i int)")
        try await connection.run("SELECT * FROM t")
        try await connection.run("ALTER TABLE t ADD COLUMN j int")
        let failed = try await failure {
            () async throws(PostgresFailure) in try await connection.run("SELECT * FROM t")
        }
        #expect(failed.sqlState == "0A000")
        try await connection.run("SELECT * FROM t")
    }

    @Test("prepares one text once for NULL and a value, and for each type")
    func preparedTypes() async throws {
        let (connection, _) = try await openDatabase()
        let text = "SELECT $1 IS NULL"
        for value: Value in [.integer(1), .null, .text("a"), .null, .integer(2)] {
            #expect(try await connection.run(text, value).boolean(0, 0) == (value == .null))
        }
        let rows = try await connection.run(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement = $1", .text(text))
        #expect(rows.integer(0, 0) == 2)
    }

    @Test("prepares a bounded number of statements")
    func bounded() async throws {
        let (connection, _) = try await openDatabase { $0.preparedStatements = 20 }
        for index in 0..<10_000 {
            let rows = try await connection.run("SELECT \(index % 50)::bigint, $1::text", .text("x"))
            #expect(rows.integer(0, 0) == Int64(index % 50))
        }
        #expect(try await connection.run("SELECT count(*) FROM pg_prepared_statements").integer(0, 0) == 20)
    }

    @Test("is not mixed with concurrent runs of the same connection")
    func concurrent() async throws {
        let (connection, _) = try await openDatabase()
        try await connection.run("CREATE TABLE t(id bigserial, run bigint)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in Int64(0)..<100 {
                group.addTask {
                    let insert = Statement("INSERT INTO t(run) VALUES ($1)", [.integer(index)])
                    let results = try await connection.run([insert, insert, Statement("SELECT max(run) FROM t")])
                    #expect(results[1].affected == 1)
                }
            }
            try await group.waitForAll()
        }
        let rows = try await connection.run("SELECT run FROM t ORDER BY id")
        let runs = (0..<rows.count).map { rows.integer($0, 0) }
        #expect(runs.count == 200)
        #expect(stride(from: 0, to: 200, by: 2).allSatisfy { runs[$0] == runs[$0 + 1] })
    }

    @Test("is rejected at once when too many runs wait, or when it has too many parameters")
    func limits() async throws {
        let (connection, _) = try await openDatabase { $0.waitingRuns = 0 }
        let overloaded = try await failure { () async throws(PostgresFailure) in try await connection.run("SELECT 1") }
        #expect(overloaded.kind == .overloaded && overloaded.isConnectionUsable)
        let (other, _) = try await openDatabase()
        let statement = Statement("SELECT 1", [Value](repeating: .integer(1), count: 65_536))
        let rejected = try await failure {
            () async throws(PostgresFailure) in try await other.run([Statement("SELECT 1"), statement])
        }
        #expect(rejected.kind == .rejected && rejected.statementIndex == 1)
        try await other.run("SELECT 1")
    }
}
