import Text

/// An error response as `application/problem+json` (RFC 9457).
///
/// Handlers throw a `Problem`. Its whole content is sent to the client, so it must contain no internal details. An
/// error of any other type becomes a 500 response without detail, and its text appears only in the log.
public struct Problem: Error, Sendable {
    /// One violation in the request.
    public struct Violation: Sendable {
        /// The part of a request that contains a violation.
        public enum Location: Sendable {
            /// In the body: a JSON Pointer with `#` in front (RFC 6901, 6).
            case pointer(String)
            /// The name of a parameter of the query or the path, or of a header field.
            case parameter(String)
        }

        /// The part of the request that contains the violation.
        public var location: Location
        /// The rule that was violated, for instance `required`.
        public var keyword: String
        /// One sentence about this violation.
        public var detail: String
        /// Additional members of the violation's JSON object, for instance `expected` and `schema`.
        public var more: [(name: String, value: Member)]

        /// Creates a violation.
        public init(
            at location: Location, keyword: String, detail: String, more: [(name: String, value: Member)] = []
        ) {
            self.location = location
            self.keyword = keyword
            self.detail = detail
            self.more = more
        }
    }

    /// The value of an additional member of a problem's JSON object.
    public enum Member: Sendable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case null
        /// A value as JSON text.
        case json([UInt8])
    }

    /// The HTTP status, 400...599.
    public var status: Int
    /// A short stable name, for instance `schema_violation`. The `type` of the problem is a URL that ends in this name.
    public var code: String
    /// The kind of problem: the same text for every occurrence.
    public var title: String
    /// The cause of this occurrence and the change that avoids it; `nil` when the title is sufficient.
    public var detail: String?
    /// True when the same request may succeed later.
    public var isRetryable: Bool
    /// The violations in the request, printed as the member `errors`.
    public var violations: [Violation]
    /// Extension members, printed before `errors`.
    public var members: [(name: String, value: Member)]
    /// Header fields to add to the response, for instance `Retry-After`, `Allow` or `WWW-Authenticate`.
    public var headers: [(name: String, value: String)]

    /// Creates a problem.
    public init(
        status: Int, code: String, title: String, detail: String? = nil, isRetryable: Bool = false,
        violations: [Violation] = [], members: [(name: String, value: Member)] = [],
        headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.isRetryable = isRetryable
        self.violations = violations
        self.members = members
        self.headers = headers
    }

    /// Returns the problem as JSON text.
    ///
    /// - Parameters:
    ///   - baseURL: the prefix of `/problems/<code>` in `type`, without a trailing slash.
    ///   - requestID: the request's ``Request/id``.
    public func body(baseURL: String, requestID: String) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(320)
        var object = ObjectPrinter()
        object.member("type", .string(Self.type(of: code, baseURL: baseURL)), to: &output)
        object.member("title", .string(title), to: &output)
        object.member("status", .integer(status), to: &output)
        object.member("code", .string(code), to: &output)
        if let detail { object.member("detail", .string(detail), to: &output) }
        object.member("request_id", .string(requestID), to: &output)
        object.member("retryable", .boolean(isRetryable), to: &output)
        for member in members { object.member(member.name, member.value, to: &output) }
        if !violations.isEmpty { object.member("errors", .json(Self.print(violations)), to: &output) }
        output.append(0x7D)
        return output
    }

    /// Returns the complete response for this problem.
    func response(baseURL: String, requestID: String) -> Response {
        Response(
            status: status,
            headers: [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")] + headers,
            body: .bytes(body(baseURL: baseURL, requestID: requestID)))
    }

    private static func type(of code: String, baseURL: String) -> String {
        baseURL + "/problems/" + String(code.map { $0 == "_" ? "-" : $0 })
    }

    private static func print(_ violations: [Violation]) -> [UInt8] {
        var output: [UInt8] = [0x5B]
        for (index, violation) in violations.enumerated() {
            if index > 0 { output.append(0x2C) }
            var object = ObjectPrinter()
            switch violation.location {
            case .pointer(let pointer): object.member("pointer", .string(pointer), to: &output)
            case .parameter(let name): object.member("parameter", .string(name), to: &output)
            }
            object.member("keyword", .string(violation.keyword), to: &output)
            object.member("detail", .string(violation.detail), to: &output)
            for member in violation.more { object.member(member.name, member.value, to: &output) }
            output.append(0x7D)
        }
        output.append(0x5D)
        return output
    }

    private struct ObjectPrinter {
        private var isEmpty = true

        mutating func member(_ name: String, _ value: Member, to output: inout [UInt8]) {
            output.append(isEmpty ? 0x7B : 0x2C)
            isEmpty = false
            JSONText.append(name, to: &output)
            output.append(0x3A)
            switch value {
            case .string(let text): JSONText.append(text, to: &output)
            case .integer(let number): output.append(contentsOf: String(number).utf8)
            case .boolean(let flag): output.append(contentsOf: (flag ? "true" : "false").utf8)
            case .null: output.append(contentsOf: "null".utf8)
            case .json(let text): output.append(contentsOf: text)
            }
        }
    }
}

/// JSON functions for printing a problem. This module does not depend on the JSON module.
enum JSONText {
    /// Appends `text` as a JSON string (RFC 8259, 7).
    static func append(_ text: String, to output: inout [UInt8]) {
        output.append(0x22)
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C:
                output.append(0x5C)
                output.append(byte)
            case 0x0A:
                output.append(contentsOf: "\\n".utf8)
            case 0x0D:
                output.append(contentsOf: "\\r".utf8)
            case 0x09:
                output.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                output.append(Hex.digit(byte >> 4))
                output.append(Hex.digit(byte & 15))
            default:
                output.append(byte)
            }
        }
        output.append(0x22)
    }
}
