public import JSON

/// The common error type of all modules. The message is safe to show to the client and says what to change.
public struct ChatError: Error, Sendable {
    /// The class of an error. Each interface maps a class to its own status code.
    public enum Code: Sendable, CaseIterable {
        /// The request is not valid: syntax, names or ranges.
        case malformed
        /// The credential is missing or not valid.
        case unauthorized
        /// The credential is valid but lacks the right.
        case forbidden
        /// The object does not exist, or the caller may not know that it exists.
        case notFound
        /// The current state forbids the operation: the object already exists, an idempotency key was used before, or
        /// other work is still running.
        case conflict
        /// The object existed and is permanently gone.
        case gone
        /// The record's etag is not the one that the request requires.
        case stale
        /// A size limit is exceeded.
        case tooLarge
        /// The request is well-formed but its content is rejected, usually by a schema.
        case invalid
        /// A rate limit, or the maximum number of objects, is exceeded.
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
        /// The location of an error.
        public enum Location: Sendable, Equatable {
            /// A location in the body: a JSON pointer (RFC 6901) with a leading `#`.
            case pointer(String)
            /// The name of a query or path parameter, or of a header.
            case parameter(String)
        }

        /// The location of the error.
        public var location: Location
        /// The violated rule: a keyword of JSON Schema such as `required`, or a keyword of the gateway such as
        /// `unknown`.
        public var keyword: String
        /// A description for people, without the location.
        public var detail: String
        /// A value that would be accepted; nil when no such value is known, or the value is long.
        public var expected: String?
        /// The location of the keyword in the schema, such as `#/properties/amount/type`; nil without a schema.
        public var schema: String?

        /// The JSON pointer of an error in the body; nil for an error in a parameter.
        public var pointer: String? { if case .pointer(let pointer) = location { pointer } else { nil } }

        /// The location as text: the JSON pointer, or the name of the parameter.
        public var place: String {
            switch location {
            case .pointer(let text), .parameter(let text): text
            }
        }

        /// Creates an error at a JSON pointer in the body.
        public init(
            pointer: String, keyword: String, detail: String, expected: String? = nil, schema: String? = nil
        ) {
            self.init(at: .pointer(pointer), keyword: keyword, detail: detail, expected: expected, schema: schema)
        }

        /// Creates an error in the body or in a parameter.
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
    /// A stable name that is more specific than `code`, e.g. `schema_violation`; nil when `code` is sufficient.
    public var slug: String?
    /// The individual errors. Empty for a single error whose location in the request is not known.
    public var faults: [FieldError] = []
    /// The name of the invalid member or parameter in the native API, or the path of a value in it, such as
    /// `metadata/color`. Empty for the body as a whole; nil when the error is not about a part of the request. The
    /// interface that read the request knows whether the name is a member of the body or a parameter.
    public var field: String?
    /// Further machine-readable details, such as `event_type` and `schema_version` of a schema violation. Each value is
    /// JSON.
    public var members: [(name: String, value: JSONText)] = []
    /// The time after which a retry may succeed; nil when it is not known.
    public var retryAfter: Duration?
    /// The stored record that a `Directory` write conflicts with; nil for other errors.
    public var current: Record?

    /// Creates an error of a class, with a message that is safe to show to the caller.
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
    /// Prints the error as the next value of `writer`: one element of `errors` in a problem document (RFC 9457).
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

    /// Parses the JSON that ``print(to:)`` prints. A missing `keyword` or `detail` becomes an empty text.
    public init(_ value: JSONValue) {
        self.init(
            at: value["parameter"]?.string.map(Location.parameter) ?? .pointer(value["pointer"]?.string ?? "#"),
            keyword: value["keyword"]?.string ?? "", detail: value["detail"]?.string ?? "",
            expected: value["expected"]?.string, schema: value["schema"]?.string)
    }

    /// Returns this error with `pointer` put before its JSON pointer. Use it when the checked document is the value at
    /// `pointer` of a larger document. An error about a parameter does not change.
    public func below(_ pointer: String) -> Self {
        guard case .pointer(let own) = location else { return self }
        var error = self
        error.location = .pointer(pointer + own.dropFirst())
        return error
    }
}

extension ChatError {
    /// Creates the error for a JSON text that cannot be parsed: `.tooLarge` for a text that is too large, otherwise
    /// `.malformed`.
    public init(_ error: JSONError) {
        let slug: String? =
            switch error.reason {
            case .malformed, .tooLarge: nil
            case .duplicateName: "duplicate_name"
            case .tooDeep: "too_deep"
            case .numberOutOfRange: "number_out_of_range"
            }
        self.init(error.reason == .tooLarge ? .tooLarge : .malformed, "the JSON is not accepted: \(error)", slug: slug)
    }
}

extension ChatError {
    /// Creates an error about an exceeded limit. The error document gets an additional member with the name `name` and
    /// the value `limit`.
    public static func over(
        _ code: Code, _ message: String, slug: String? = nil, name: String = "limit", limit: Int, field: String? = nil,
        retryAfter: Duration? = nil
    ) -> ChatError {
        var error = ChatError(code, message, slug: slug, field: field, retryAfter: retryAfter)
        error.members = [(name, JSONText { $0.integer(limit) })]
        return error
    }

    /// A copy of this error with another `field`.
    public func about(_ field: String) -> ChatError {
        var error = self
        error.field = field
        return error
    }
}

extension ChatError.FieldError {
    /// The error for an unknown member of a JSON object.
    ///
    /// - Parameters:
    ///   - object: the pointer of the object that contains the member; `#` for the whole body.
    ///   - known: the names of the known members.
    public static func unknown(_ name: String, in object: String = "#", known: [String]) -> Self {
        Self(
            pointer: object + "/" + JSONPointer.escaped(String(name.prefix(64))), keyword: "unknown",
            detail: "unknown member" + AcceptedNames(known).hint(for: name))
    }
}
