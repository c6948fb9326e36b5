/// Why a document is not accepted as a schema.
public struct SchemaError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, in the order of the document; never empty.
    public var problems: [Problem]

    /// One thing that is wrong with a schema.
    public struct Problem: Sendable, Equatable {
        public enum Reason: String, Sendable {
            /// The metaschema refuses the document.
            case invalid
            /// A reference names nothing that was loaded. Nothing is ever fetched.
            case unresolved
            /// References that lead back to themselves without going deeper into a value.
            case cycle
            /// A pattern that is not ECMA-262 (`u`), or too large.
            case pattern
            /// `$schema` or `$vocabulary` names something unknown.
            case unknownDialect
            /// Two resources or anchors with one name, or an identifier that is no URI.
            case identifier
            /// Larger, deeper or costlier than a limit.
            case limit
        }

        public var reason: Reason
        /// Where in the schema document: `#/properties/a`. A place in another document has its URI in front.
        public var pointer: String
        /// One sentence.
        public var detail: String
        /// For `invalid`: the keyword of the metaschema that refused, by its path and by its URI.
        public var keywordLocation: String?
        public var absoluteKeywordLocation: String?
    }

    public var description: String {
        problems.map { "\($0.pointer): \($0.detail)" }.joined(separator: "\n")
    }

    init(_ problems: [Problem]) { self.problems = problems }

    init(_ reason: Problem.Reason, _ detail: String, at pointer: String = "#") {
        problems = [Problem(reason: reason, pointer: pointer, detail: detail)]
    }
}
