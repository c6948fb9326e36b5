import ChatModel
import Postgres

/// Translates filters to SQL conditions that are true or false, never NULL. A comparison with a field that is missing
/// or has another type is false, and its negation is true. The texts of a filter become parameters.
struct FilterTranslation {
    /// The maximum number of conditions in one filter.
    private static let conditionsMost = 256

    var parameters = ParameterList()
    var source = FieldSource()
    private var left = conditionsMost

    /// - Throws: `.malformed` for an invalid field, and for a filter with too many conditions.
    mutating func condition(_ filter: RecordFilter) throws(ChatError) -> String {
        left -= 1
        guard left > 0 else {
            throw ChatError(.malformed, "the filter may have at most \(Self.conditionsMost) conditions")
        }
        switch filter {
        case .compare(let field, let comparison, let value): return try compare(field, comparison, value)
        case .not(let filter): return "NOT \(try condition(filter))"
        case .and(let filters): return try join(filters, "AND", empty: "TRUE")
        case .or(let filters): return try join(filters, "OR", empty: "FALSE")
        case .beside(let kind, let prefix):
            guard !prefix.utf8.contains(0) else { return "FALSE" }
            return """
                EXISTS (SELECT 1 FROM record AS other WHERE other.app = record.app AND other.kind = \(kind.rawValue) \
                AND other.id = \(parameters.add(.text(prefix))) || record.id)
                """
        }
    }

    private mutating func join(
        _ filters: [RecordFilter], _ word: String, empty: String
    ) throws(ChatError) -> String {
        guard !filters.isEmpty else { return empty }
        var conditions: [String] = []
        for filter in filters { conditions.append(try condition(filter)) }
        return "(" + conditions.joined(separator: " \(word) ") + ")"
    }

    private mutating func compare(
        _ name: String, _ comparison: RecordFilter.Comparison, _ value: RecordFilter.Value
    ) throws(ChatError) -> String {
        if comparison == .notEqual { return "NOT \(try compare(name, .equal, value))" }
        let field = try source.field(name, &parameters)
        switch (value, field) {
        case (.string(let text), .json(let json)):
            return compare("parley_text(\(json))", comparison, text, when: "ascii(\(json)) = 34")
        case (.string(let text), .text(let column)): return compare(column, comparison, text, when: nil)
        case (.number(let number), _) where comparison != .like && !number.isNaN:
            let sign = comparison.sign
            switch field {
            case .text: return "FALSE"
            case .integer(let column): return "coalesce(\(column) \(sign) \(parameters.add(numeric: number)), FALSE)"
            case .json(let json):
                // parley_number returns a number for true and false, too.
                return """
                    coalesce(ascii(\(json)) < 58 AND parley_number(\(json)) \(sign) \(parameters.add(numeric: number)), \
                    FALSE)
                    """
            }
        case (.boolean(let boolean), .json(let json)) where comparison == .equal:
            return "coalesce(\(json) = '\(boolean)', FALSE)"
        case (.null, .json(let json)) where comparison == .equal: return "(coalesce(\(json), 'null') = 'null')"
        default: return "FALSE"  // true and null have no order, and numbers no pattern
        }
    }

    /// Returns the comparison of an SQL expression of the type `text` with a text.
    ///
    /// - Parameter type: an SQL condition that the field must meet first.
    private mutating func compare(
        _ value: String, _ comparison: RecordFilter.Comparison, _ text: String, when type: String?
    ) -> String {
        var sign = comparison.sign
        var text = text
        if comparison == .like {
            text = text.likePattern
        } else if let zero = text.utf8.firstIndex(of: 0) {
            // No stored text contains U+0000, and PostgreSQL rejects it in a parameter. A stored text is therefore
            // smaller than this text if it is not greater than the part before U+0000.
            text = String(text[..<zero])
            switch comparison {
            case .less, .lessOrEqual: sign = "<="
            case .greater, .greaterOrEqual: sign = ">"
            default: return "FALSE"
            }
        }
        let comparison = "\(value) COLLATE \"C\" \(sign) \(parameters.add(.text(text)))"
        return "coalesce(\(type.map { "\($0) AND " } ?? "")\(comparison), FALSE)"
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
        // With the collation "C", ILIKE ignores the case of ASCII letters only.
        case .like: "ILIKE"
        }
    }
}

extension String {
    /// This pattern as a pattern for SQL's LIKE, up to U+0000. In this pattern, `*` matches any number of characters,
    /// and a backslash makes the next character literal. LIKE's own special characters are escaped.
    fileprivate var likePattern: String {
        var pattern = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in unicodeScalars.prefix(while: { $0 != "\0" }) {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: pattern.append("%")
            case "%", "_", "\\": pattern.append(contentsOf: ["\\", scalar])
            default: pattern.append(scalar)
            }
            isEscaped = false
        }
        return String(pattern)
    }
}
