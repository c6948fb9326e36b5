import ChatModel
import StorageCore

/// A fragment of SQL and the values of its parameters. Input of callers is always a bound value, never part of the
/// text.
struct SQLPiece: Sendable {
    var text: String
    var values: [SQLValue]

    init(_ text: String, _ values: [SQLValue] = []) {
        self.text = text
        self.values = values
    }

    static func joined(_ pieces: [SQLPiece], by word: String) -> SQLPiece {
        SQLPiece("(" + pieces.map(\.text).joined(separator: " \(word) ") + ")", pieces.flatMap(\.values))
    }
}

extension RecordFilter {
    /// The maximum number of conditions in one filter. SQLite limits the depth of an expression to 1000.
    private static let conditionsMost = 256

    /// Returns the filter as an SQL condition that is true or false, never NULL. A comparison with a field that is
    /// missing or has another type is false, and its negation is true.
    func sql() throws(ChatError) -> SQLPiece {
        var left = Self.conditionsMost
        return try sql(&left)
    }

    private func sql(_ left: inout Int) throws(ChatError) -> SQLPiece {
        left -= 1
        guard left > 0 else {
            throw ChatError(.malformed, "the filter may have at most \(Self.conditionsMost) conditions")
        }
        switch self {
        case .compare(let field, let comparison, let value):
            return try Self.compare(SQLPath(field), comparison, value)
        case .not(let filter):
            let piece = try filter.sql(&left)
            return SQLPiece("NOT \(piece.text)", piece.values)
        case .and(let filters): return try Self.join(filters, "AND", empty: "1", &left)
        case .or(let filters): return try Self.join(filters, "OR", empty: "0", &left)
        case .beside(let kind, let prefix):
            let text = """
                EXISTS (SELECT 1 FROM record AS other WHERE other.app = record.app AND other.kind = \(kind.rawValue) \
                AND other.id = ? || record.id)
                """
            return SQLPiece(text, [.text(prefix)])
        }
    }

    private static func join(
        _ filters: [RecordFilter], _ word: String, empty: String, _ left: inout Int
    ) throws(ChatError) -> SQLPiece {
        guard !filters.isEmpty else { return SQLPiece(empty) }
        var pieces: [SQLPiece] = []
        for filter in filters { pieces.append(try filter.sql(&left)) }
        return .joined(pieces, by: word)
    }

    private static func compare(
        _ path: SQLPath, _ comparison: Comparison, _ value: Value
    ) throws(ChatError) -> SQLPiece {
        if comparison == .notEqual {
            let equal = try compare(path, .equal, value)
            return SQLPiece("NOT \(equal.text)", equal.values)
        }
        switch (value, comparison) {
        case (.string(let pattern), .like):
            return Self.when(path, "= 'text'", "LIKE ? ESCAPE '\\'", .text(pattern.likePattern))
        case (.string(let text), _): return Self.when(path, "= 'text'", "\(comparison.sign) ?", .text(text))
        case (.number(let number), _) where comparison != .like:
            return Self.when(path, "IN ('integer', 'real')", "\(comparison.sign) ?", .double(number))
        case (.boolean(let boolean), .equal):
            return SQLPiece("ifnull(\(path.type.text) = '\(boolean)', 0)", path.type.values)
        case (.null, .equal): return SQLPiece("(ifnull(\(path.type.text), 'null') = 'null')", path.type.values)
        default: return SQLPiece("0")  // true and null have no order, and numbers no pattern
        }
    }

    /// Returns the condition that the field has this type and that the comparison with the value is true.
    private static func when(_ path: SQLPath, _ type: String, _ comparison: String, _ value: SQLValue) -> SQLPiece {
        SQLPiece(
            "ifnull(\(path.type.text) \(type) AND \(path.value.text) \(comparison), 0)",
            path.type.values + path.value.values + [value])
    }
}

/// An SQL expression for a record's field. The field is in the record's JSON body, in a column, or in the record of the
/// user or channel to which the record refers.
struct SQLPath {
    let type: SQLPiece
    let value: SQLPiece

    /// Creates the expression for a field of a record.
    ///
    /// - Throws: `.malformed` for a field name that cannot be written as a JSON path of SQLite.
    init(_ field: String) throws(ChatError) {
        guard !field.isEmpty, !field.contains("\""), !field.contains("\0") else {
            throw ChatError(.malformed, "a field's name must not be empty or contain quotes")
        }
        for (prefix, kind) in [("user", RecordKind.user), ("channel", .channel)] where field.hasPrefix(prefix + ":") {
            self.init(String(field.dropFirst(prefix.utf8.count + 1)), from: { Self.linked($0, prefix, kind) })
            return
        }
        self.init(field, from: { $0 })
    }

    /// Creates the expression for a field that is stored in a column of the table `record` or in its JSON body.
    ///
    /// - Parameter source: takes the name of a column, and returns the SQL expression for that column. For a linked user
    ///   or channel, the expression is a subquery.
    private init(_ field: String, from source: (String) -> String) {
        switch field {
        case "@id":
            type = SQLPiece("'text'")
            value = SQLPiece(source("id"))
        case "@updated":
            type = SQLPiece("'integer'")
            value = SQLPiece(source("updated"))
        default:
            let path = "$" + field.split(separator: ".", omittingEmptySubsequences: false).map { ".\"\($0)\"" }.joined()
            type = SQLPiece("json_type(\(source("body")), ?)", [.text(path)])
            value = SQLPiece("json_extract(\(source("body")), ?)", [.text(path)])
        }
    }

    private static func linked(_ column: String, _ member: String, _ kind: RecordKind) -> String {
        """
        (SELECT other.\(column) FROM record AS other WHERE other.app = record.app AND other.kind = \(kind.rawValue) \
        AND other.id = json_extract(record.body, '$.\(member)'))
        """
    }
}

extension RecordFilter.Comparison {
    fileprivate var sign: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .like: "LIKE"
        }
    }
}

extension String {
    /// This pattern as a pattern for SQL's LIKE. In this pattern, `*` matches any number of characters, and a backslash
    /// makes the next character literal. LIKE's own special characters are escaped.
    fileprivate var likePattern: String {
        var pattern = ""
        var isEscaped = false
        for character in self {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: pattern.append("%")
            case "%", "_", "\\": pattern += "\\\(character)"
            default: pattern.append(character)
            }
            isEscaped = false
        }
        return pattern
    }
}
