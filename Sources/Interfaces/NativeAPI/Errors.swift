import ChatModel
import HTTPServer
import JSON

/// Translates errors of the lower modules into HTTP statuses and problems.
extension NativeAPI {
    /// Returns the error that a handler throws to the router. An unexpected error is returned unchanged; the router
    /// logs the error and responds with status 500.
    ///
    /// - Parameter request: the rejected request. The problem points at the invalid member of its body, or names the
    ///   invalid parameter.
    static func translated(_ error: any Error, _ request: Request) -> any Error {
        switch error {
        case let error as ChatError: Problem(error.located(in: request))
        case let error as JSONError: Problem(error, in: request.body.bytes)
        default: error
        }
    }
}

extension ChatError {
    /// Returns the error with the location of its ``field``: a member of the request's body or, if the body has no such
    /// member, a parameter or a header field.
    fileprivate func located(in request: Request) -> ChatError {
        guard faults.isEmpty, let field else { return self }
        if slug == "member_missing", !field.isEmpty { return missing(field, in: request) }
        if let body = try? Fields.parse(request.body.bytes, limits: Limits()).root, body.kind == .object,
            let pointer = ErrorLocation(field, in: body).pointer
        {
            return pointed(at: pointer)
        }
        var error = self
        if code == .malformed, slug == nil { error.slug = "bad_parameter" }
        guard let name = ErrorLocation.parameter(field, of: request) else { return error }
        error.faults = [FieldError(at: .parameter(name), keyword: error.slug ?? code.slug, detail: message)]
        return error
    }

    /// Returns the error about a missing value with the location at which the route expects the value: the body, or the
    /// query if the route takes no body.
    private func missing(_ field: String, in request: Request) -> ChatError {
        var error = self
        var place = FieldError.Location.pointer("#/" + field)
        if request.takesBody {
            error.message += "; send `\(field)` in the body"
        } else {
            error.slug = "parameter_missing"
            error.message += "; send ?\(field)=…"
            place = .parameter(field)
        }
        error.faults = [FieldError(at: place, keyword: "required", detail: error.message)]
        return error
    }

    /// Returns the error with `pointer` as its location. A malformed request whose error has no slug gets `bad_member`,
    /// because its JSON could be parsed.
    func pointed(at pointer: String) -> ChatError {
        var error = self
        if code == .malformed { error.slug = slug ?? "bad_member" }
        error.faults = [FieldError(pointer: pointer, keyword: error.slug ?? code.slug, detail: message)]
        return error
    }
}

extension Problem {
    init(_ error: ChatError) {
        let code = error.slug ?? error.code.slug
        self.init(
            status: error.code.status, code: code, title: ProblemCatalogue.title(of: code) ?? error.code.title,
            detail: error.message, isRetryable: error.code.isRetryable || error.retryAfter != nil,
            violations: error.faults.map { Violation($0) },
            members: error.members.map { ($0.name, .json($0.value.bytes)) }, headers: error.headers)
    }

    /// The problem for JSON that cannot be parsed. The position of the error is in the members `line` and `column`.
    fileprivate init(_ error: JSONError, in body: [UInt8]) {
        var refusal = ChatError(error)
        if error.reason == .malformed, Self.isForm(body) {
            refusal.message = #"the body is a form; send JSON, such as {"name": "Ana"}"#
        }
        self.init(refusal)
        guard error.line > 0 else { return }
        members = [("line", .integer(error.line)), ("column", .integer(error.column))]
    }

    /// Returns true for a body that looks like a form: it begins with a name and `=`, or with a multipart boundary.
    private static func isForm(_ body: [UInt8]) -> Bool {
        if body.starts(with: "--".utf8) { return true }
        let name = body.prefix(256).prefix { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "_-.+%[]".utf8.contains(byte)
            }
        }
        return !name.isEmpty && body.dropFirst(name.count).first == UInt8(ascii: "=")
    }
}

extension Problem.Violation {
    fileprivate init(_ fault: ChatError.FieldError) {
        let more = [("expected", fault.expected), ("schema", fault.schema)]
        let location: Location =
            switch fault.location {
            case .pointer(let pointer): .pointer(pointer)
            case .parameter(let name): .parameter(name)
            }
        self.init(
            at: location, keyword: fault.keyword, detail: fault.detail,
            more: more.compactMap { name, text in text.map { (name, .string($0)) } })
    }
}

extension ChatError {
    /// The header fields that the response to this error needs.
    fileprivate var headers: [(name: String, value: String)] {
        switch code {
        case .unauthorized:
            // RFC 9110, 15.5.2 requires `WWW-Authenticate` with every 401, even if the route accepts no bearer key.
            [("WWW-Authenticate", slug == "signature_invalid" ? "Signature" : #"Bearer realm="parley""#)]
        case .tooMany, .overloaded, .unavailable, .outcomeUnknown:
            [("Retry-After", String(max(1, retryAfter.map(\.wholeSecondsUp) ?? 1)))]
        case .malformed, .forbidden, .notFound, .conflict, .gone, .stale, .tooLarge, .invalid, .storageFull:
            retryAfter.map { [("Retry-After", String(max(1, $0.wholeSecondsUp)))] } ?? []
        }
    }
}

extension ChatError.Code {
    var status: Int {
        switch self {
        case .malformed: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .gone: 410
        case .stale: 412
        case .tooLarge: 413
        case .invalid: 422
        case .tooMany: 429
        case .overloaded, .unavailable, .outcomeUnknown: 503
        case .storageFull: 507
        }
    }

    /// The default slug of an error, which becomes the `code` of its problem if the error sets no more specific slug.
    /// Slugs never change.
    var slug: String {
        switch self {
        case .malformed: "malformed_request"
        case .unauthorized: "unauthorized"
        case .forbidden: "forbidden"
        case .notFound: "not_found"
        case .conflict: "conflict"
        case .gone: "gone"
        case .stale: "precondition_failed"
        case .tooLarge: "content_too_large"
        case .invalid: "unprocessable"
        case .tooMany: "too_many_requests"
        case .overloaded: "overloaded"
        case .unavailable: "unavailable"
        case .outcomeUnknown: "outcome_unknown"
        case .storageFull: "storage_full"
        }
    }

    var title: String {
        switch self {
        case .malformed: "The request is malformed"
        case .unauthorized: "A valid credential is needed"
        case .forbidden: "The credential does not allow this request"
        case .notFound: "Not found"
        case .conflict: "The current state does not allow the request"
        case .gone: "The resource was permanently deleted"
        case .stale: "The resource has changed since it was read"
        case .tooLarge: "The request body is too large"
        case .invalid: "The request is well-formed but not accepted"
        case .tooMany: "A limit is reached"
        case .overloaded: "The server is overloaded"
        case .unavailable: "The store cannot be reached"
        case .outcomeUnknown: "The change may or may not have been stored"
        case .storageFull: "The disk is full"
        }
    }

    /// True when the same request may succeed later without a change.
    var isRetryable: Bool {
        switch self {
        case .tooMany, .overloaded, .unavailable, .outcomeUnknown, .storageFull: true
        case .malformed, .unauthorized, .forbidden, .notFound, .conflict, .gone, .stale, .tooLarge, .invalid: false
        }
    }
}

extension Duration {
    /// The duration in seconds, rounded up.
    var wholeSecondsUp: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
