import ChatModel

/// A value for a place in a statement.
enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
}

/// A piece of SQL with its values. Whatever a caller wrote is a value, never text of the statement.
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
    /// Conditions of one filter; SQLite's own bound on depth is 1000.
    private static let conditionsMost = 256

    /// The filter as a condition that is true or false, never NULL: a field that is missing or of another kind compares as
    /// false, and its negation as true.
    func sql() throws(ChatError) -> SQLPiece {
        var left = Self.conditionsMost
        return try sql(&left)
    }

    private func sql(_ left: inout Int) throws(ChatError) -> SQLPiece {
        left -= 1
        guard left > 0 else {
            throw ChatError(.malformed, "the filter has more than \(Self.conditionsMost) conditions")
        }
        switch self {
        case .compare(let field, let comparison, let value):
            return try Self.compare(SQLPath(field), comparison, value)
        case .not(let filter):
            let piece = try filter.sql(&left)
            return SQLPiece("NOT \(piece.text)", piece.values)
        case .and(let filters): return try Self.join(filters, "AND", empty: "1", &left)
        case .or(let filters): return try Self.join(filters, "OR", empty: "0", &left)
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
            return SQLPiece(
                "ifnull(\(path.type) = 'text' AND \(path.value) LIKE ? ESCAPE '\\', 0)",
                [path.parameter, path.parameter, .text(pattern.likePattern)])
        case (.string(let text), _):
            return SQLPiece(
                "ifnull(\(path.type) = 'text' AND \(path.value) \(comparison.sign) ?, 0)",
                [path.parameter, path.parameter, .text(text)])
        case (.number(let number), _) where comparison != .like:
            return SQLPiece(
                "ifnull(\(path.type) IN ('integer', 'real') AND \(path.value) \(comparison.sign) ?, 0)",
                [path.parameter, path.parameter, .double(number)])
        case (.boolean(let boolean), .equal):
            return SQLPiece("ifnull(\(path.type) = '\(boolean)', 0)", [path.parameter])
        case (.null, .equal): return SQLPiece("(ifnull(\(path.type), 'null') = 'null')", [path.parameter])
        default: return SQLPiece("0")  // true and null have no order, and numbers no pattern
        }
    }
}

/// A field of a record's body, for SQLite's JSON functions.
struct SQLPath {
    let parameter: SQLValue
    let type = "json_type(body, ?)"
    let value = "json_extract(body, ?)"

    /// - Throws: `.malformed` for a name SQLite's paths cannot spell.
    init(_ field: String) throws(ChatError) {
        guard !field.isEmpty, !field.contains("\""), !field.contains("\0") else {
            throw ChatError(.malformed, "a field's name must not be empty or contain quotes")
        }
        parameter = .text(
            "$" + field.split(separator: ".", omittingEmptySubsequences: false).map { ".\"\($0)\"" }.joined())
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
    /// `*` stands for any run; a backslash takes the meaning from what follows. SQL's own signs lose theirs.
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
