public import JSON

/// The common error type of all modules. The message is safe to show to the caller and says what to change.
public struct ChatError: Error, Sendable {
    /// The class of an error. Each interface maps it to a status of its own.
    public enum Code: Sendable, CaseIterable {
        /// The request is not valid: syntax, names or ranges.
        case malformed
        /// The credential is missing or not valid.
        case unauthorized
        /// The credential is valid but lacks the right.
        case forbidden
        /// The object does not exist, or the caller may not know that it exists.
        case notFound
        /// The current state forbids the operation: the object exists already, a claim was used before, or work is
        /// still running.
        case conflict
        /// The object existed and is permanently gone.
        case gone
        /// The required version is not the current one.
        case stale
        /// A size limit is exceeded.
        case tooLarge
        /// The request is well-formed but its content is rejected, in most cases by a schema.
        case invalid
        /// A limit of a rate or a count is exceeded.
        case tooMany
        /// Too many requests are waiting; nothing was stored.
        case overloaded
        /// The store cannot be reached in time; nothing was stored.
        case unavailable
        /// The store failed during the commit: the request may have been stored.
        case outcomeUnknown
        /// The disk is full.
        case storageFull
    }

    /// One error in a request or a document, as problem+json (RFC 9457) lists it.
    public struct FieldError: Sendable, Equatable {
        /// The place of an error.
        public enum Location: Sendable, Equatable {
            /// In the body: a JSON pointer (RFC 6901) with a leading `#`.
            case pointer(String)
            /// The name of a parameter of the query or the path, or of a header field.
            case parameter(String)
        }

        /// The place of the error.
        public var location: Location
        /// The rule that the value breaks: a keyword of JSON Schema such as `required`, or one of the gateway's own
        /// such as `unknown`.
        public var keyword: String
        /// The error as a text for people. It does not repeat the place.
        public var detail: String
        /// A value that would be accepted, when it is short.
        public var expected: String?
        /// The place of the keyword in the schema: `#/properties/amount/type`.
        public var schema: String?

        /// The pointer of an error in the body; nil for another.
        public var pointer: String? { if case .pointer(let pointer) = location { pointer } else { nil } }

        /// The pointer or the name, for texts.
        public var place: String {
            switch location {
            case .pointer(let text), .parameter(let text): text
            }
        }

        /// An error at a JSON pointer in the body.
        public init(
            pointer: String, keyword: String, detail: String, expected: String? = nil, schema: String? = nil
        ) {
            self.init(at: .pointer(pointer), keyword: keyword, detail: detail, expected: expected, schema: schema)
        }

        /// An error in the body or in a parameter.
        public init(
            at location: Location, keyword: String, detail: String, expected: String? = nil, schema: String? = nil
        ) {
            self.location = location
            self.keyword = keyword
            self.detail = detail
            self.expected = expected
            self.schema = schema
        }
    }

    /// The class of the error, from which an interface derives its status.
    public var code: Code
    /// One or two sentences for the caller: what is wrong, and what to send instead.
    public var message: String
    /// A more specific stable name than `code`, e.g. `schema_violation`; nil when `code` is sufficient.
    public var slug: String?
    /// The single errors, when the request has several or their place in it is known; otherwise empty.
    public var faults: [FieldError] = []
    /// The invalid member or parameter by its name in the native API, or the path of a value in it, such as
    /// `metadata/color`. Empty for the body as a whole; nil when the error concerns neither. The interface that read it
    /// knows whether it came in a body, a path, a query or a header field.
    public var field: String?
    /// Further machine-readable details, each a JSON value, e.g. `event_type` and `schema_version` of a violation.
    public var members: [(name: String, value: JSONText)] = []
    /// The time after which a retry may succeed.
    public var retryAfter: Duration?
    /// The existing record that a `Directory` write conflicts with.
    public var current: Record?

    /// An error of a class, with a message that is safe to show to the caller.
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
    /// Prints the error as the next value of `writer`, with the members of a problem's `errors`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        switch location {
        case .pointer(let pointer): writer.member("pointer", pointer)
        case .parameter(let name): writer.member("parameter", name)
        }
        writer.member("keyword", keyword)
        writer.member("detail", detail)
        if let expected { writer.member("expected", expected) }
        if let schema { writer.member("schema", schema) }
        writer.endObject()
    }

    /// Reads the output of ``print(to:)``. A missing member is read as empty.
    public init(_ value: JSONValue) {
        self.init(
            at: value["parameter"]?.string.map(Location.parameter) ?? .pointer(value["pointer"]?.string ?? "#"),
            keyword: value["keyword"]?.string ?? "", detail: value["detail"]?.string ?? "",
            expected: value["expected"]?.string, schema: value["schema"]?.string)
    }

    /// The same error in a document that holds this one's document at `pointer`. An error about a parameter stays.
    public func below(_ pointer: String) -> Self {
        guard case .pointer(let own) = location else { return self }
        var error = self
        error.location = .pointer(pointer + own.dropFirst())
        return error
    }
}

extension ChatError {
    /// Makes the error for JSON of the sender that cannot be read.
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
    /// Makes an error about an exceeded limit. The limit is a member of the error, under the name `name`.
    public static func over(
        _ code: Code, _ message: String, slug: String? = nil, name: String = "limit", limit: Int, field: String? = nil,
        retryAfter: Duration? = nil
    ) -> ChatError {
        var error = ChatError(code, message, slug: slug, field: field, retryAfter: retryAfter)
        error.members = [(name, JSONText { $0.integer(limit) })]
        return error
    }

    /// A copy of this error about the member `field`.
    public func about(_ field: String) -> ChatError {
        var error = self
        error.field = field
        return error
    }
}

extension ChatError.FieldError {
    /// The error for a member that is not known.
    ///
    /// - Parameters:
    ///   - object: the pointer of the object that contains the member; `#` for the document.
    ///   - known: the known members.
    public static func unknown(_ name: String, in object: String = "#", known: [String]) -> Self {
        Self(
            pointer: object + "/" + JSONPointer.escaped(String(name.prefix(64))), keyword: "unknown",
            detail: "unknown member" + AcceptedNames(known).hint(for: name))
    }
}
