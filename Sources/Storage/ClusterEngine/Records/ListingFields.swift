import ChatModel
import Postgres

/// The parameters of a statement under construction.
struct ParameterList: Sendable {
    private(set) var values: [Value] = []

    /// Adds a value and returns the SQL text that refers to it.
    mutating func add(_ value: Value) -> String {
        values.append(value)
        return "$\(values.count)"
    }

    /// Adds a number and returns its SQL text, of the type `numeric`. A number without a fraction that has 64 bits is
    /// exact. Other numbers have the digits that `parley_number` returns for them.
    ///
    /// - Parameter number: not NaN.
    mutating func add(numeric number: Double) -> String {
        let text = Int64(exactly: number).map(String.init) ?? (number.isInfinite ? Self.infinity(number) : "\(number)")
        return "\(add(.text(text)))::numeric"
    }

    private static func infinity(_ number: Double) -> String { number < 0 ? "-Infinity" : "Infinity" }
}

/// The SQL expression for a record's field. The field is in the record's JSON body, in a column, or in the record of
/// the user or channel to which the record refers.
enum FieldExpression: Sendable {
    /// A column of the type `text`; NULL if there is no linked record.
    case text(String)
    /// A column of the type `bigint`; NULL if there is no linked record.
    case integer(String)
    /// The JSON text of a value in a body; NULL if the value is missing.
    case json(String)
}

/// The part of a statement that reads fields: subqueries that follow the table `record` in the FROM clause.
///
/// A subquery evaluates its expressions once for each row, because `OFFSET 0` prevents the planner from merging it into
/// the statement. The body is parsed once for all fields. The fields of the sort keys are in a subquery of their own,
/// so that they are read only for the rows that match the filter.
struct FieldSource: Sendable {
    /// The record to which another record refers with its member `user` or `channel`.
    private enum Link: String, CaseIterable, Sendable {
        case user, channel

        var kind: RecordKind { self == .user ? .user : .channel }
    }

    private var parsesBody = false
    private var links: Set<Link> = []
    /// The columns of the subqueries, by the names of their fields.
    private var columns: [String: String] = [:]
    private var filterFields: [String] = []
    private var sortFields: [String] = []
    private var sortKeys: [String] = []
    /// True when all fields of the filter have been added.
    var hasFilter = false

    /// Returns the expression for a field.
    ///
    /// - Throws: `.malformed` for an empty name and for a name with quotes or U+0000.
    mutating func field(
        _ name: String, _ parameters: inout ParameterList
    ) throws(ChatError) -> FieldExpression {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "\"")), !name.utf8.contains(0) else {
            throw ChatError(.malformed, "a field's name must not be empty or contain quotes")
        }
        for link in Link.allCases where name.utf8.starts(with: "\(link.rawValue):".utf8) {
            links.insert(link)
            let rest = String(name.unicodeScalars.dropFirst(link.rawValue.unicodeScalars.count + 1))
            return expression(rest, name, "linked_\(link.rawValue)", "linked_\(link.rawValue)", &parameters)
        }
        return expression(name, name, "record", "document", &parameters)
    }

    private mutating func expression(
        _ field: String, _ name: String, _ table: String, _ document: String, _ parameters: inout ParameterList
    ) -> FieldExpression {
        switch field {
        case "@id": return .text("\(table).id")
        case "@updated": return .integer("\(table).updated")
        default: break
        }
        if document == "document" { parsesBody = true }
        if let column = columns[name] { return .json(column) }
        let path = field.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let parameter = "\(parameters.add(.texts(path)))::text[]"
        let value =
            path.contains(where: Self.mayBeIndex)
            ? "parley_member(\(document).json, \(parameter))" : "(\(document).json #> \(parameter))"
        let number = columns.count + 1
        let column = hasFilter ? "sorted.f\(number)" : "field.f\(number)"
        columns[name] = column
        if hasFilter {
            sortFields.append("\(value)::text AS f\(number)")
        } else {
            filterFields.append("\(value)::text AS f\(number)")
        }
        return .json(column)
    }

    /// Adds a sort key and returns its columns: the number and the text of the field. At most one of them has a value.
    mutating func sortKey(_ field: FieldExpression) -> (number: String, text: String) {
        let (number, text) =
            switch field {
            case .text(let column): ("NULL::numeric", column)
            case .integer(let column): ("\(column)::numeric", "NULL::text")
            case .json(let column): ("parley_number(\(column))", "parley_text(\(column))")
            }
        let index = sortKeys.count + 1
        sortKeys.append("\(number) AS n\(index), \(text) COLLATE \"C\" AS t\(index)")
        return ("key.n\(index)", "key.t\(index)")
    }

    /// True for each name that PostgreSQL accepts as the index of an array element, and for some others.
    private static func mayBeIndex(_ name: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return name.utf8.contains { digits.contains($0) }
            && name.utf8.allSatisfy { digits.contains($0) || (0x09...0x0D).contains($0) || " +-".utf8.contains($0) }
    }

    /// The subqueries, in the order of their dependencies.
    var sql: String {
        var text = ""
        if parsesBody || !links.isEmpty {
            text += " CROSS JOIN LATERAL (SELECT parley_json(record.body) AS json OFFSET 0) AS document"
        }
        for link in Link.allCases where links.contains(link) {
            text += """
                 CROSS JOIN LATERAL (SELECT (document.json #> '{\(link)}')::text AS name OFFSET 0) AS member_\(link) \
                LEFT JOIN LATERAL (SELECT other.id, other.updated, parley_json(other.body) AS json FROM record AS other \
                WHERE other.app = record.app AND other.kind = \(link.kind.rawValue) \
                AND other.id = parley_text(member_\(link).name) COLLATE "C" OFFSET 0) AS linked_\(link) ON true
                """
        }
        for (columns, name) in [(filterFields, "field"), (sortFields, "sorted"), (sortKeys, "key")]
        where !columns.isEmpty {
            text += " CROSS JOIN LATERAL (SELECT \(columns.joined(separator: ", ")) OFFSET 0) AS \(name)"
        }
        return text
    }
}
