import ChatModel
import Postgres
import StorageCore

/// A query for a list of records, translated to SQL before a connection is used.
///
/// The lists have the order of SQLite: NULL sorts before numbers, and numbers before text. `true` and `false` are the
/// numbers 1 and 0, and an array or object is its JSON text. Text is compared byte by byte.
struct RecordListing: Sendable {
    /// Selects the rows of the page and one more row. Each row contains the record's columns, followed by two columns
    /// for each sort key that is a field.
    let rows: Statement
    /// Counts the records of the list on all pages.
    let total: Statement
    private let query: RecordQuery
    /// The sort keys. The last one is the id, so that the order of rows is unique.
    private let order: [SortColumn]

    /// Validates a query and translates it to SQL.
    ///
    /// - Throws: `.malformed` for an invalid cursor, filter or field.
    init(_ query: RecordQuery) throws(ChatError) {
        self.query = query
        var translation = FilterTranslation()
        let condition = try translation.condition(query)
        total = Statement(
            "SELECT count(*) FROM record\(translation.source.sql) WHERE \(condition)", translation.parameters.values)

        var source = translation.source
        var parameters = translation.parameters
        source.hasFilter = true
        var order: [SortColumn] = []
        for (key, ascending) in query.sort {
            order.append(SortColumn(try source.sortKey(key, &parameters), ascending))
        }
        if !query.sort.contains(where: { $0.key == .id }) { order.append(SortColumn(.id, true)) }
        self.order = order
        let columns = [Rows.recordColumns] + order.flatMap(\.selected)
        var text = "SELECT \(columns.joined(separator: ", ")) FROM record\(source.sql) WHERE \(condition)"
        if let cursor = query.cursor { text += " AND \(try Self.continuation(order, cursor, &parameters))" }
        let keys = order.flatMap { $0.keys(nullsLast: query.offset != nil) }
        text += " ORDER BY \(keys.joined(separator: ", "))"
        text += " LIMIT \(parameters.add(.integer(Int64(query.limit) + 1)))"
        if let offset = query.offset { text += " OFFSET \(parameters.add(.integer(Int64(offset))))" }
        rows = Statement(text, parameters.values)
    }

    /// Returns the page of the rows that the statements returned.
    ///
    /// - Parameters:
    ///   - rows: the result of ``rows``.
    ///   - total: the result of ``total``; nil if the statement was not executed.
    func page(_ rows: Rows, total: Rows?) -> Page<Record> {
        var page = Page<Record>(items: [])
        let count = min(rows.count, query.limit)
        for row in 0..<count {
            page.items.append(rows.record(row, in: query.app, kind: query.kind))
            if query.wantsCursors { page.cursors.append(cursor(after: row, of: rows)) }
        }
        if rows.count > query.limit {
            page.hasMore = true
            if count > 0 { page.cursor = cursor(after: count - 1, of: rows) }
        }
        if let total, total.count > 0 { page.total = Int(total.integer(0, 0) ?? 0) }
        return page
    }

    /// Returns the cursor of the page that begins after a row.
    private func cursor(after row: Int, of rows: Rows) -> String {
        var values: [SQLValue] = []
        var column = 5
        for key in order {
            switch key.source {
            case .id: values.append(.text(rows.text(row, 0) ?? ""))
            case .updated: values.append(.integer(rows.integer(row, 3) ?? 0))
            case .field:
                values.append(Self.value(number: rows.text(row, column), text: rows.text(row, column + 1)))
                column += 2
            }
        }
        return ListCursor.text(values)
    }

    private static func value(number: String?, text: String?) -> SQLValue {
        if let text { return .text(text) }
        guard let number else { return .null }
        return Int64(number).map { .integer($0) } ?? .double(Double(number) ?? 0)
    }

    /// Returns the condition for the rows that follow the cursor in the order of the page.
    ///
    /// - Throws: `.malformed` for a cursor of another list.
    private static func continuation(
        _ order: [SortColumn], _ cursor: String, _ parameters: inout ParameterList
    ) throws(ChatError) -> String {
        guard let values = ListCursor.values(cursor), values.count == order.count else { throw .badCursor }
        var places: [CursorPlace] = []
        for (key, value) in zip(order, values) {
            guard let place = key.place(of: value, &parameters) else { throw .badCursor }
            places.append(place)
        }
        var condition = "FALSE"
        for place in places.reversed() { condition = "(\(place.beyond) OR (\(place.same) AND \(condition)))" }
        return places[0].begin.map { "(\($0) AND \(condition))" } ?? condition
    }
}

/// The place of a cursor in the order of one sort key.
private struct CursorPlace {
    /// The condition for the rows after the cursor.
    let beyond: String
    /// The condition for the rows with the cursor's value.
    let same: String
    /// A condition that allows the server to start an index scan at the cursor; nil when the sort key is not a column.
    var begin: String?
}

/// One sort key of a page.
private struct SortColumn: Sendable {
    enum Source: Sendable {
        case id, updated
        /// A field, as two columns of which at most one has a value: the number and the text.
        case field(number: String, text: String)
    }

    let source: Source
    private let ascending: Bool

    init(_ source: Source, _ ascending: Bool) {
        self.source = source
        self.ascending = ascending
    }

    /// The columns of the result that contain the value for the cursor.
    var selected: [String] {
        guard case .field(let number, let text) = source else { return [] }
        return ["\(number)::text", text]
    }

    /// The expressions for ORDER BY. In ascending order, values without text come first, and values without text and
    /// number before them.
    func keys(nullsLast: Bool) -> [String] {
        let direction = ascending ? "" : " DESC"
        switch source {
        case .id: return ["record.id\(direction)"]
        case .updated: return ["record.updated\(direction)"]
        case .field(let number, let text) where ascending:
            let missing = nullsLast ? ["(\(number) IS NULL AND \(text) IS NULL)"] : []
            return missing + ["\(text) NULLS FIRST", "\(number) NULLS FIRST"]
        case .field(let number, let text): return ["\(text) DESC NULLS LAST", "\(number) DESC NULLS LAST"]
        }
    }

    /// Returns the conditions for a cursor with this value; nil if the sort key cannot have the value.
    func place(of value: SQLValue, _ parameters: inout ParameterList) -> CursorPlace? {
        switch (source, value) {
        case (.id, .text(let id)): return Self.place("record.id", ascending, id, &parameters)
        case (.updated, .integer(let moment)):
            let parameter = parameters.add(.integer(moment))
            return Self.place("record.updated", ascending, parameter)
        case (.field(let number, let text), .null):
            return CursorPlace(
                beyond: ascending ? "(\(number) IS NOT NULL OR \(text) IS NOT NULL)" : "FALSE",
                same: "(\(number) IS NULL AND \(text) IS NULL)")
        case (.field(let number, let text), .integer(let integer)):
            return place(number, text, "\(parameters.add(.integer(integer)))::numeric")
        case (.field(let number, let text), .double(let double)) where !double.isNaN:
            return place(number, text, parameters.add(numeric: double))
        case (.field(_, let text), .text(let value)):
            guard !value.utf8.contains(0) else { return nil }
            let parameter = parameters.add(.text(value))
            return CursorPlace(
                beyond: ascending ? "\(text) > \(parameter)" : "(\(text) < \(parameter) OR \(text) IS NULL)",
                same: "\(text) = \(parameter)")
        default: return nil
        }
    }

    /// The place of a number in the order of a field.
    private func place(_ number: String, _ text: String, _ parameter: String) -> CursorPlace {
        CursorPlace(
            beyond: ascending
                ? "(\(number) > \(parameter) OR \(text) IS NOT NULL)"
                : "(\(number) < \(parameter) OR (\(number) IS NULL AND \(text) IS NULL))",
            same: "\(number) = \(parameter)")
    }

    private static func place(
        _ column: String, _ ascending: Bool, _ id: String, _ parameters: inout ParameterList
    ) -> CursorPlace? {
        id.utf8.contains(0) ? nil : place(column, ascending, parameters.add(.text(id)))
    }

    private static func place(_ column: String, _ ascending: Bool, _ parameter: String) -> CursorPlace {
        let sign = ascending ? ">" : "<"
        return CursorPlace(
            beyond: "\(column) \(sign) \(parameter)", same: "\(column) = \(parameter)",
            begin: "\(column) \(sign)= \(parameter)")
    }
}

extension FieldSource {
    fileprivate mutating func sortKey(
        _ key: RecordQuery.SortKey, _ parameters: inout ParameterList
    ) throws(ChatError) -> SortColumn.Source {
        switch key {
        case .id: return .id
        case .updated: return .updated
        case .field(let name):
            let (number, text) = sortKey(try field(name, &parameters))
            return .field(number: number, text: text)
        }
    }
}

extension FilterTranslation {
    /// Returns the condition that a query selects a record on any page.
    fileprivate mutating func condition(_ query: RecordQuery) throws(ChatError) -> String {
        var conditions = [text("record.app", "=", query.app.name), "record.kind = \(query.kind.rawValue)"]
        if let parent = query.parent { conditions.append(text("record.parent", "=", parent)) }
        if let prefix = query.idPrefix {
            conditions.append(text("record.id", ">=", prefix))
            conditions.append(text("record.id", "<", prefix + "\u{10FFFF}"))
        }
        if let filter = query.filter { conditions.append(try condition(filter)) }
        return "(" + conditions.joined(separator: " AND ") + ")"
    }

    /// Returns the comparison of a column with a text. No column contains U+0000, which PostgreSQL rejects.
    private mutating func text(_ column: String, _ sign: String, _ value: String) -> String {
        value.utf8.contains(0) ? "FALSE" : "\(column) \(sign) \(parameters.add(.text(value)))"
    }
}
