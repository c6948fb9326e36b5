/// An answer that says what went wrong, as `application/problem+json` (RFC 9457).
///
/// Handlers throw it. Everything in it reaches the client, so nothing internal belongs here; an error of any other type
/// becomes a 500 without detail, its text only in the log.
public struct Problem: Error, Sendable {
    /// One violation inside the request body.
    public struct Violation: Sendable {
        /// Where, as a JSON Pointer with `#` in front (RFC 6901, 6).
        public var pointer: String
        /// The rule that was broken, for instance `required`.
        public var keyword: String
        public var detail: String
        /// Further members, `expected` and `schema` for instance.
        public var more: [(name: String, value: Member)]

        public init(pointer: String, keyword: String, detail: String, more: [(name: String, value: Member)] = []) {
            self.pointer = pointer
            self.keyword = keyword
            self.detail = detail
            self.more = more
        }
    }

    /// The value of an extension member.
    public enum Member: Sendable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case null
        /// JSON that is printed already.
        case json([UInt8])
    }

    /// The HTTP status, 400...599.
    public var status: Int
    /// A short stable name, for instance `schema_violation`; the problem's type is made from it.
    public var code: String
    /// What kind of problem this is, the same text for every occurrence.
    public var title: String
    /// What happened this time and what to change.
    public var detail: String?
    /// Whether the same request may succeed later.
    public var isRetryable: Bool
    public var violations: [Violation]
    /// Extension members, printed before `errors`.
    public var members: [(name: String, value: Member)]
    /// Header fields that belong to the answer: `Retry-After`, `Allow`, `WWW-Authenticate`.
    public var headers: [(name: String, value: String)]
    /// Used instead of the type made from ``code``, for types registered elsewhere.
    public var type: String?

    public init(
        status: Int, code: String, title: String, detail: String? = nil, isRetryable: Bool = false,
        violations: [Violation] = [], members: [(name: String, value: Member)] = [],
        headers: [(name: String, value: String)] = [], type: String? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.isRetryable = isRetryable
        self.violations = violations
        self.members = members
        self.headers = headers
        self.type = type
    }

    /// The JSON text.
    ///
    /// - Parameters:
    ///   - baseURL: what comes before `/problems/<code>` in `type`, without a slash at its end.
    ///   - requestID: the request's ``Request/id``.
    public func body(baseURL: String, requestID: String) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(320)
        var object = ObjectPrinter()
        object.member("type", .string(type ?? Self.type(of: code, baseURL: baseURL)), to: &output)
        object.member("title", .string(title), to: &output)
        object.member("status", .integer(status), to: &output)
        object.member("code", .string(code), to: &output)
        if let detail { object.member("detail", .string(detail), to: &output) }
        object.member("instance", .string("/v1/requests/" + requestID), to: &output)
        object.member("request_id", .string(requestID), to: &output)
        object.member("retryable", .boolean(isRetryable), to: &output)
        for member in members { object.member(member.name, member.value, to: &output) }
        if !violations.isEmpty { object.member("errors", .json(Self.print(violations)), to: &output) }
        output.append(0x7D)
        return output
    }

    /// The whole answer.
    public func response(baseURL: String, requestID: String) -> Response {
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
            object.member("pointer", .string(violation.pointer), to: &output)
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

/// Just enough JSON to print a problem: this module parses none.
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
                output.append(ASCII.hexDigits[Int(byte >> 4)])
                output.append(ASCII.hexDigits[Int(byte & 15)])
            default:
                output.append(byte)
            }
        }
        output.append(0x22)
    }
}
