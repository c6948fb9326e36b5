public import JSON

/// The one vocabulary of failure between rooms. The message is safe for the caller and says what to change.
public struct ChatError: Error, Sendable {
    public enum Code: Sendable, CaseIterable {
        /// The request cannot be understood: syntax, names, ranges.
        case malformed
        /// No credential, or one that does not hold.
        case unauthorized
        /// A good credential without the right.
        case forbidden
        /// No such thing, or none this caller may know of.
        case notFound
        /// The state of things forbids it: exists already, another claim, still running.
        case conflict
        /// It existed and is over for good.
        case gone
        /// A demanded version is not the current one.
        case stale
        /// Over a size limit.
        case tooLarge
        /// Understood, and refused for its meaning: a schema violation above all.
        case invalid
        /// Over a rate or a count.
        case tooMany
        /// Too much is waiting; nothing was stored.
        case overloaded
        /// The store cannot be reached in time; certainly nothing was stored.
        case unavailable
        /// The commit was under way when the store was lost: it may have been accepted.
        case outcomeUnknown
        /// No room on the disk.
        case storageFull
    }

    /// One fault in a document, as problem+json lists it (`conventions.md` 7).
    public struct FieldError: Sendable, Equatable {
        /// RFC 6901, with a leading `#`.
        public var pointer: String
        public var keyword: String
        public var detail: String
        /// What would pass, where that is short.
        public var expected: String?
        /// Where in the schema the keyword stands: `#/properties/amount/type`.
        public var schema: String?

        public init(
            pointer: String, keyword: String, detail: String, expected: String? = nil, schema: String? = nil
        ) {
            self.pointer = pointer
            self.keyword = keyword
            self.detail = detail
            self.expected = expected
            self.schema = schema
        }
    }

    public var code: Code
    public var message: String
    /// A narrower stable name than `code` gives, e.g. `schema_violation`; nil where `code` says it all.
    public var slug: String?
    public var faults: [FieldError] = []
    /// The member that is wrong, by its name in the native API, or the path of something in it, such as `metadata/color`; empty for
    /// the body as a whole, nil where neither is. The
    /// interface that has read the member knows whether it came in a body, a path or a query.
    public var field: String?
    /// Further facts for programs, each a JSON value, e.g. `event_type` and `schema_version` of a violation.
    public var members: [(name: String, value: JSONText)] = []
    /// When it is worth asking again.
    public var retryAfter: Duration?
    /// The record that stood in the way of a `Directory` write.
    public var current: Record?

    public init(
        _ code: Code, _ message: String, slug: String? = nil, field: String? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.slug = slug
        self.field = field
        self.retryAfter = retryAfter
    }
}

extension ChatError.FieldError {
    /// Prints it as the next value of `writer`, with the members of a problem's `errors` (`conventions.md` 7).
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("pointer", pointer)
        writer.member("keyword", keyword)
        writer.member("detail", detail)
        if let expected { writer.member("expected", expected) }
        if let schema { writer.member("schema", schema) }
        writer.endObject()
    }
}

extension ChatError {
    /// The sender's JSON could not be read.
    public init(_ error: JSONError) {
        let slug: String? =
            switch error.reason {
            case .malformed, .tooLarge: nil
            case .duplicateName: "duplicate_name"
            case .tooDeep: "too_deep"
            case .numberOutOfRange: "number_out_of_range"
            }
        self.init(error.reason == .tooLarge ? .tooLarge : .malformed, "not acceptable JSON: \(error)", slug: slug)
    }
}

extension ChatError {
    /// An error about more than `limit` bytes or things; the limit goes with it, as the member `name`.
    public static func over(
        _ code: Code, _ message: String, slug: String? = nil, name: String = "limit", limit: Int, field: String? = nil,
        retryAfter: Duration? = nil
    ) -> ChatError {
        var error = ChatError(code, message, slug: slug, field: field, retryAfter: retryAfter)
        error.members = [(name, JSONText { $0.integer(limit) })]
        return error
    }

    /// The same error, about the member `field`.
    public func about(_ field: String) -> ChatError {
        var error = self
        error.field = field
        return error
    }
}

extension ChatError.FieldError {
    /// A member that no rule reads.
    ///
    /// - Parameters:
    ///   - object: the pointer of the object that has it, `#` for the document.
    ///   - known: the members that are read.
    public static func unknown(_ name: String, in object: String = "#", known: [String]) -> Self {
        let nearest = NameSuggester(known).nearest(to: name).map { "; did you mean '\($0)'?" } ?? ""
        return Self(
            pointer: object + "/" + JSONPointer.escaped(String(name.prefix(64))), keyword: "unknown",
            detail: "unknown member\(nearest)")
    }
}
