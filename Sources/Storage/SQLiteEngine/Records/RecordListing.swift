import ChatModel
import SQLite
import StorageCore

/// A query for a list of records, translated to SQL before a connection is used.
struct RecordListing: Sendable {
    let query: RecordQuery
    /// The sort keys. The last one is the id, so that the order of rows is unique.
    private let order: [Order]
    private let table: String
    private let condition: SQLPiece
    private let continuation: SQLPiece?

    /// Validates a query and translates it to SQL.
    ///
    /// - Throws: `.malformed` for an invalid cursor, filter or field.
    init(_ query: RecordQuery) throws(ChatError) {
        self.query = query
        var order: [Order] = []
        for (key, ascending) in query.sort { order.append(try Order(key, ascending)) }
        if !query.sort.contains(where: { $0.key == .id }) { order.append(try Order(.id, true)) }
        self.order = order
        // `INDEXED BY` is necessary. Otherwise SQLite would scan the primary key, which contains the bodies, and would
        // read the members of all channels to find the members of one channel.
        table = query.parent == nil ? "record" : "record INDEXED BY record_parent"

        var conditions = [SQLPiece("app = ?", [.text(query.app.name)])]
        conditions.append(SQLPiece("kind = ?", [.integer(Int64(query.kind.rawValue))]))
        if let parent = query.parent { conditions.append(SQLPiece("parent = ?", [.text(parent)])) }
        if let prefix = query.idPrefix {
            conditions.append(SQLPiece("id >= ? AND id < ?", [.text(prefix), .text(prefix + "\u{10FFFF}")]))
        }
        if let filter = query.filter { conditions.append(try filter.sql()) }
        condition = .joined(conditions, by: "AND")
        continuation = try query.cursor.map { (cursor) throws(ChatError) in try Self.continuation(order, cursor) }
    }

    /// The SQL that selects the rows of the page and one more row. Each row contains the record's columns, followed by
    /// the sort keys.
    var rows: SQLPiece {
        let columns = SQLPiece.list(order.map(\.piece))
        let keys = SQLPiece.list(order.map { $0.key(nullsLast: query.offset != nil) })
        var whole = SQLPiece("SELECT \(Statement.recordColumns), \(columns.text) FROM \(table) WHERE \(condition.text)")
        whole.values = columns.values + condition.values
        if let continuation {
            whole.text += " AND \(continuation.text)"
            whole.values += continuation.values
        }
        whole.text += " ORDER BY \(keys.text) LIMIT ? OFFSET ?"
        whole.values += keys.values + [.integer(Int64(query.limit) + 1), .integer(Int64(query.offset ?? 0))]
        return whole
    }

    var total: SQLPiece { SQLPiece("SELECT count(*) FROM \(table) WHERE \(condition.text)", condition.values) }

    /// Returns the cursor of the page that begins after a row of ``rows``.
    func cursor(after row: Statement) -> String {
        var values: [SQLValue] = []
        for index in order.indices { values.append(row.value(Int32(5 + index))) }
        return ListCursor.text(values)
    }

    /// Returns the condition for the rows that follow the cursor in the order of the page. NULL sorts before all other
    /// values, as in SQLite.
    private static func continuation(_ order: [Order], _ cursor: String) throws(ChatError) -> SQLPiece {
        guard let values = ListCursor.values(cursor), values.count == order.count else { throw .badCursor }
        var condition = SQLPiece("0")
        for (key, value) in zip(order, values).reversed() {
            condition = .joined([key.beyond(value), .joined([key.same(as: value), condition], by: "AND")], by: "OR")
        }
        let begin = order[0].begin(at: values[0])
        return begin.map { .joined([$0, condition], by: "AND") } ?? condition
    }
}

/// One sort key of a page.
private struct Order: Sendable {
    let piece: SQLPiece
    let ascending: Bool
    /// True for a column, which contains no NULL and may have an index.
    private let isColumn: Bool

    init(_ key: RecordQuery.SortKey, _ ascending: Bool) throws(ChatError) {
        piece = try key.sql()
        self.ascending = ascending
        isColumn = if case .field = key { false } else { true }
    }

    func key(nullsLast: Bool) -> SQLPiece {
        let nulls = nullsLast && !isColumn ? " NULLS LAST" : ""
        return SQLPiece(piece.text + (ascending ? "" : " DESC") + nulls, piece.values)
    }

    func same(as value: SQLValue) -> SQLPiece { SQLPiece("\(piece.text) IS ?", piece.values + [value]) }

    func beyond(_ value: SQLValue) -> SQLPiece {
        switch (value, ascending) {
        case (.null, true): SQLPiece("\(piece.text) IS NOT NULL", piece.values)
        case (.null, false): SQLPiece("0")
        case (_, true): SQLPiece("\(piece.text) > ?", piece.values + [value])
        case (_, false):
            SQLPiece("(\(piece.text) < ? OR \(piece.text) IS NULL)", piece.values + [value] + piece.values)
        }
    }

    /// Returns a condition that allows SQLite to start its index scan at the cursor; nil when the sort key is not a
    /// column.
    func begin(at value: SQLValue) -> SQLPiece? {
        isColumn ? SQLPiece("\(piece.text) \(ascending ? ">=" : "<=") ?", [value]) : nil
    }
}

extension Reader {
    func list(_ listing: RecordListing) throws(SQLiteFailure) -> Page<Record> {
        try inSnapshot { () throws(SQLiteFailure) in
            var page = Page<Record>(items: [])
            let rows = try statement(listing.rows)
            var cursor: String?
            try rows.forEachRow { row in
                guard page.items.count < listing.query.limit else {
                    page.hasMore = true
                    page.cursor = cursor
                    return false
                }
                page.items.append(row.record(in: listing.query.app, kind: listing.query.kind))
                if listing.query.wantsCursors { page.cursors.append(listing.cursor(after: row)) }
                if page.items.count == listing.query.limit { cursor = listing.cursor(after: row) }
                return true
            }
            if listing.query.wantsTotal { page.total = Int(try statement(listing.total).firstInteger() ?? 0) }
            return page
        }
    }

    /// Returns the compiled statement of an SQL fragment, with its values bound.
    private func statement(_ piece: SQLPiece) throws(SQLiteFailure) -> Statement {
        let statement = try statement(piece.text)
        for (index, value) in piece.values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        return statement
    }
}

extension RecordQuery.SortKey {
    fileprivate func sql() throws(ChatError) -> SQLPiece {
        switch self {
        case .id: return SQLPiece("id")
        case .updated: return SQLPiece("updated")
        case .field(let name): return try SQLPath(name).value
        }
    }
}

extension SQLPiece {
    fileprivate static func list(_ pieces: [SQLPiece]) -> SQLPiece {
        SQLPiece(pieces.map(\.text).joined(separator: ", "), pieces.flatMap(\.values))
    }
}

extension Statement {
    func bind(_ value: SQLValue, at position: Int32) {
        switch value {
        case .null: bindNull(at: position)
        case .integer(let integer): bind(integer, at: position)
        case .double(let double): bind(double, at: position)
        case .text(let text): bind(text, at: position)
        }
    }

    fileprivate func value(_ column: Int32) -> SQLValue {
        switch kind(column) {
        case .null, .bytes: .null
        case .integer: .integer(integer(column))
        case .double: .double(double(column))
        case .text: .text(text(column))
        }
    }
}
