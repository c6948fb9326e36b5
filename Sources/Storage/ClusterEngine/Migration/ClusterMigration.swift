import ChatModel
import Postgres
package import StorageCore

/// The copy of a store's content into the empty database of a cluster.
package struct ClusterMigration {
    private let settings: ConnectionSettings

    /// - Parameter url: the PostgreSQL server and the database, as for ``ClusterEngine``.
    package init(to url: String) {
        settings = ConnectionSettings(
            connectionInfo: url, applicationName: "parley engine migrate", deadline: .seconds(600),
            // The transaction is idle while rows are read from the other store.
            sessionSettings: ["statement_timeout": "0", "idle_in_transaction_session_timeout": "0"], needsWrites: true)
    }

    /// Copies everything in one transaction. Before the commit, reads the copy and compares it with the original. After
    /// an error or an interruption, the database is as before.
    ///
    /// - Returns: the number of rows of each table.
    /// - Throws: `MigrationFailure` when the database is not empty, has tables of another version, or cannot be used,
    ///   when the source cannot be read, or when the copy differs from the original.
    package func copy(
        from source: some StoreContents, progress: @escaping (MigrationProgress) -> Void
    ) async throws(MigrationFailure) -> [(table: ContentTable, rows: Int)] {
        let connection: Connection
        do throws(PostgresFailure) {
            connection = try await Connection.open(settings)
        } catch {
            throw MigrationFailure(ClusterEngineFailure.store(error.message).description)
        }
        let result: Result<[(table: ContentTable, rows: Int)], MigrationFailure>
        do throws(MigrationFailure) {
            result = .success(
                try await ContentCopy(connection: connection, source: source, progress: progress).run())
        } catch {
            result = .failure(error)
        }
        // Without a commit, the server rolls the transaction back.
        await connection.close()
        return try result.get()
    }
}

/// A migration on an open connection.
private struct ContentCopy<Source: StoreContents> {
    let connection: Connection
    let source: Source
    let progress: (MigrationProgress) -> Void

    /// The number of stored rows that are read at once: 13 MB of payloads with the default limit of 64 KiB.
    private static var rowsAtOnce: Int { 200 }

    func run() async throws(MigrationFailure) -> [(table: ContentTable, rows: Int)] {
        try await beginInEmptyTables()
        var copied: [(table: ContentTable, checksum: ContentChecksum)] = []
        for table in ContentTable.allCases { copied.append((table, try await copy(table))) }
        try await finishNumberings()
        for (table, checksum) in copied {
            let stored = try await read(table, checksum.rows)
            guard stored == checksum else {
                throw MigrationFailure(
                    "the copy of the \(table.title) differs from the original (\(stored.rows) rows of "
                        + "\(checksum.rows)); nothing was stored")
            }
        }
        guard try await run([Statement("ANALYZE"), Statement("COMMIT")]).last?.tag == "COMMIT" else {
            throw MigrationFailure("the PostgreSQL server rolled the transaction back; nothing was stored")
        }
        return copied.map { ($0.table, $0.checksum.rows) }
    }

    /// Begins the transaction, which keeps nodes out until its end, and creates the tables unless they exist.
    private func beginInEmptyTables() async throws(MigrationFailure) {
        let schema = ClusterSchema.current
        let found: SchemaState?
        do throws(PostgresFailure) {
            found = try await ClusterSchema.begin(connection)
        } catch {
            throw MigrationFailure(ClusterEngineFailure.store(error.message).description)
        }
        guard let found else {
            _ = try await run(schema.creation.statements)
            return
        }
        let known = schema.known
        guard found.version == known else {
            throw MigrationFailure(
                "the database has the tables of version \(found.version), but this version of Parley migrates to version "
                    + "\(known): create an empty database")
        }
        // Nodes write in other tables only together with one of these.
        _ = try await run([Statement("LOCK TABLE head, subscriber, cursor, node IN ACCESS EXCLUSIVE MODE")])
        let isInUse = Statement("SELECT EXISTS (SELECT FROM node WHERE lease_until > \(LaneRow.databaseTime))")
        let rows = try await run(
            [isInUse] + ContentTable.allCases.map { Statement("SELECT EXISTS (SELECT FROM \($0.rawValue))") })
        guard rows[0].boolean(0, 0) == false else {
            throw MigrationFailure(
                "a gateway uses the database: stop it, and wait 12 seconds if it was killed")
        }
        let filled = zip(ContentTable.allCases, rows.dropFirst()).filter { $1.boolean(0, 0) != false }
        guard filled.isEmpty else {
            throw MigrationFailure(
                "the database is not empty, it has \(filled.map(\.0.title).joined(separator: ", ")): create an empty "
                    + "database")
        }
    }

    private func copy(_ table: ContentTable) async throws(MigrationFailure) -> ContentChecksum {
        let total = try source.count(table)
        let insertion = table.insertion
        var checksum = ContentChecksum()
        while let rows = try await source.next(table) {
            do throws(PostgresFailure) {
                _ = try await connection.run([Statement(insertion, rows.values)])
            } catch {
                throw MigrationFailure("the \(table.title) cannot be stored: \(error.message)\(rows.zeroCharacter)")
            }
            checksum.add(rows)
            progress(.copying(table, done: checksum.rows, of: total))
        }
        guard checksum.rows == total else {
            throw MigrationFailure(
                "\(checksum.rows) \(table.title) were read, but there are \(total); nothing was stored")
        }
        return checksum
    }

    /// Sets the head, and the numbers from which new channels, subscribers and nodes are numbered.
    private func finishNumberings() async throws(MigrationFailure) {
        let head = try source.head()
        _ = try await run([
            Statement(
                "UPDATE head SET commit = commit + 2, tt = greatest(tt, $1), revision = $2, restored = $3",
                [.timetoken(head.timetoken), .integer(Int64(head.revision)), .timetoken(head.restored)]),
            Statement("SELECT setval(pg_get_serial_sequence('channel', 'id'), max(id)) FROM channel"),
            Statement("SELECT setval(pg_get_serial_sequence('subscriber', 'id'), max(id)) FROM subscriber"),
            // The number of the node is part of each lease.
            Statement(
                "SELECT setval(name, greatest(nextval(name), $1)) FROM pg_get_serial_sequence('node', 'id') AS name",
                [.integer(Int64(head.life))]),
        ])
    }

    /// Reads the stored rows of a table.
    private func read(_ table: ContentTable, _ total: Int) async throws(MigrationFailure) -> ContentChecksum {
        let cursor = "stored_\(table.rawValue)"
        let columns = table.columns
        _ = try await run([Statement("DECLARE \(cursor) NO SCROLL CURSOR FOR \(table.selection)")])
        var checksum = ContentChecksum()
        while true {
            let found = try await run([Statement("FETCH \(Self.rowsAtOnce) FROM \(cursor)")])[0]
            guard found.count > 0 else { break }
            var rows = ContentRows(of: table)
            for row in 0..<found.count { rows.append(found, row, columns) }
            checksum.add(rows)
            progress(.comparing(table, done: checksum.rows, of: total))
        }
        _ = try await run([Statement("CLOSE \(cursor)")])
        return checksum
    }

    private func run(_ statements: [Statement]) async throws(MigrationFailure) -> [Rows] {
        do throws(PostgresFailure) {
            return try await connection.run(statements)
        } catch {
            throw MigrationFailure(ClusterEngineFailure.store(error.message).description)
        }
    }
}

extension ContentTable {
    /// Stores rows whose columns are the parameters.
    fileprivate var insertion: String {
        let names = columns.map(\.name).joined(separator: ", ")
        let arrays = columns.enumerated().map { "$\($0 + 1)::\($1.array)" }.joined(separator: ", ")
        return """
            INSERT INTO \(rawValue)(\(names)) OVERRIDING SYSTEM VALUE
            SELECT \(columns.map(\.stored).joined(separator: ", ")) FROM unnest(\(arrays)) AS u(\(names))
            """
    }

    /// Reads the columns of all rows.
    fileprivate var selection: String {
        "SELECT \(columns.map(\.read).joined(separator: ", ")) FROM \(rawValue)"
    }
}

extension ContentColumn {
    /// The type of the parameter.
    fileprivate var array: String {
        switch kind {
        case .integer, .boolean: "bigint[]"
        case .double, .text, .timetokens: "text[]"
        case .bytes: "bytea[]"
        }
    }

    /// The value of the table's column.
    fileprivate var stored: String {
        switch kind {
        case .integer, .text, .bytes: name
        case .boolean: "\(name) <> 0"
        case .double: "\(name)::double precision"
        case .timetokens: "\(name)::bigint[]"
        }
    }

    /// The value as ``ContentRows`` has it.
    fileprivate var read: String {
        switch kind {
        case .integer, .double, .text, .bytes: name
        case .boolean: "\(name)::integer"
        case .timetokens: "\(name)::text"
        }
    }
}

extension ContentRows {
    /// The parameters of ``ContentTable/insertion``.
    fileprivate var values: [Value] {
        zip(table.columns, columns).map { column, values in
            switch column.kind {
            case .integer, .boolean: .integers(values.integers)
            case .double: .texts(values.doubles.map { $0.map { "\($0)" } })
            case .text, .timetokens: .texts(values.texts)
            case .bytes: .byteStrings(values.byteStrings)
            }
        }
    }

    /// A sentence about the first value with the character U+0000, which PostgreSQL does not store in a text; empty if
    /// there is none.
    fileprivate var zeroCharacter: String {
        for (column, values) in zip(table.columns, columns) {
            guard let value = values.texts.lazy.compactMap(\.self).first(where: { $0.utf8.contains(0) }) else {
                continue
            }
            let shown = value.prefix(100).split(separator: "\0", omittingEmptySubsequences: false)
            return
                "; PostgreSQL has no character U+0000, as in the \(column.name) '\(shown.joined(separator: "\\u0000"))'"
        }
        return ""
    }

    /// Appends a row of ``ContentTable/selection``.
    fileprivate mutating func append(_ rows: Rows, _ row: Int, _ columns: [ContentColumn]) {
        append(columns) {
            rows.integer(row, $0)
        } double: {
            rows.double(row, $0)
        } text: {
            rows.text(row, $0)
        } byteString: {
            rows.bytes(row, $0)
        }
    }
}
