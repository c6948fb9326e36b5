internal import CMicrohttpd
import Glibc

/// The values of the header fields that the server itself uses. They are collected while the fields are copied.
struct HeadFields {
    /// A problem that makes the boundaries of a request unreliable. The connection is not used again after such a
    /// problem.
    enum FramingProblem {
        case malformed(StaticString)
        /// The value of `Expect` is not supported.
        case expectation

        var problem: Problem {
            switch self {
            case .malformed(let detail): .malformedRequest("\(detail)")
            case .expectation:
                Problem(
                    status: 417, code: "expectation_failed", title: "The value of the Expect header is not supported")
            }
        }
    }

    var contentLength: UInt64?
    var isChunked = false
    fileprivate(set) var hasContentEncoding = false
    fileprivate(set) var hasRequestID = false
    /// The first framing problem; `nil` when there is none.
    fileprivate(set) var framingProblem: FramingProblem?
    fileprivate var hosts = 0
    fileprivate var lengths = 0
    fileprivate var transferEncodings = 0

    var hasBody: Bool { isChunked || (contentLength ?? 0) > 0 }
}

/// Reads a request's header out of libmicrohttpd's memory, which is valid only until the response is queued.
struct RequestHeadParser {
    private var fields = HeadFields()
    private var writer: Headers.Writer
    /// The end of the line that was read last: the request line or a header field. The library has overwritten the line
    /// break that follows.
    private var lineEnd: UnsafeRawPointer

    private init(_ writer: Headers.Writer, lineEnd: UnsafeRawPointer) {
        self.writer = writer
        self.lineEnd = lineEnd
    }

    /// Copies and checks the fields of a connection's request.
    ///
    /// - Parameters:
    ///   - header: the header, which begins with the request line.
    ///   - version: the HTTP version, which is the last part of the request line.
    static func read(
        _ connection: OpaquePointer, _ header: UnsafeRawBufferPointer, version: UnsafePointer<CChar>, isHTTP10: Bool
    ) -> (Headers, HeadFields) {
        let count = MHD_get_connection_values_n(connection, .HEADER_KIND, nil, nil)
        var fields = HeadFields()
        let headers = Headers(capacity: header.count + Int(count) * Headers.Writer.overhead) { writer in
            var parser = RequestHeadParser(writer, lineEnd: UnsafeRawPointer(version) + strlen(version))
            withUnsafeMutablePointer(to: &parser) { parser in
                _ = MHD_get_connection_values_n(
                    connection, .HEADER_KIND,
                    { context, _, name, nameLength, value, valueLength in
                        context!.assumingMemoryBound(to: RequestHeadParser.self).pointee.receive(
                            name: UnsafeRawBufferPointer(start: name, count: nameLength),
                            value: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueLength))
                        return .YES
                    }, parser)
            }
            parser.checkFraming(isHTTP10: isHTTP10, end: header.baseAddress! + header.count)
            writer = parser.writer
            fields = parser.fields
        }
        return (headers, fields)
    }

    private mutating func receive(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if !writer.append(name: name, value: value) { refuse("The header is longer than expected") }
        if let start = name.baseAddress, start - lineEnd != 2 {
            refuse("A line of the request header does not end with CR LF")
        }
        if let start = value.baseAddress { lineEnd = start + value.count }
        guard name.allSatisfy(Self.isToken), !name.isEmpty else {
            return refuse("The name of a header field is not valid")
        }
        switch name.count {
        case 4 where Self.equals(name, "host"): fields.hosts += 1
        case 6 where Self.equals(name, "expect"):
            if Self.text(value).lowercased() != "100-continue" { refuse(.expectation) }
        case 12 where Self.equals(name, "x-request-id"): fields.hasRequestID = true
        case 14 where Self.equals(name, "content-length"): readLength(value)
        case 16 where Self.equals(name, "content-encoding"): fields.hasContentEncoding = true
        case 17 where Self.equals(name, "transfer-encoding"): readTransferEncoding(Self.text(value))
        default: break
        }
        if Self.hasControls(value) { refuse("A header field contains a control character") }
    }

    /// Returns true when the value contains a control character other than a tab. Examines all bytes, so that the
    /// compiler can examine many at the same time.
    private static func hasControls(_ value: UnsafeRawBufferPointer) -> Bool {
        var found: UInt8 = 0
        for byte in value { found |= ASCII.isControl(byte) && byte != 0x09 ? 1 : 0 }
        return found != 0
    }

    /// Reads the decimal digits of a `Content-Length`. Refuses other characters, and a number that exceeds 64 bits.
    private mutating func readLength(_ value: UnsafeRawBufferPointer) {
        fields.lengths += 1
        let digits = Self.trimmed(value)
        var length: UInt64 = 0
        var isNumber = !digits.isEmpty
        for digit in digits {
            let (tens, isTooLarge) = length.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.addingReportingOverflow(UInt64(digit &- 0x30))
            if !(0x30...0x39 ~= digit) || isTooLarge || overflows { isNumber = false }
            length = sum
        }
        guard isNumber else { return refuse("Content-Length is not a number") }
        if let earlier = fields.contentLength, earlier != length {
            refuse("Content-Length was sent twice with different values")
        }
        fields.contentLength = length
    }

    private mutating func readTransferEncoding(_ text: String) {
        fields.transferEncodings += 1
        fields.isChunked = true
        if text.lowercased() != "chunked" { refuse("Transfer-Encoding must be 'chunked'") }
    }

    private mutating func refuse(_ detail: StaticString) { refuse(.malformed(detail)) }

    private mutating func refuse(_ problem: HeadFields.FramingProblem) {
        if fields.framingProblem == nil { fields.framingProblem = problem }
    }

    /// Checks the rules about the combination of several fields. The length of the body must be unambiguous, because a
    /// proxy and this server could otherwise delimit the request differently (RFC 9112, 6.3 and 11.2). There must be
    /// exactly one `Host` field (RFC 9112, 3.2).
    ///
    /// - Parameter end: the end of the header according to the library. The library misreads three invalid inputs: it
    ///   treats a line that begins with a colon as the end of the header, it appends folded lines to names, and it
    ///   accepts LF alone as a line break (RFC 9112, 2.2). In each case, the distance between the last value and `end`
    ///   is not the two line breaks that belong there.
    private mutating func checkFraming(isHTTP10: Bool, end: UnsafeRawPointer) {
        if end - lineEnd != 4 { refuse("The header is not valid HTTP/1.1; each line must end with CR LF") }
        if fields.transferEncodings > 0, fields.lengths > 0 {
            refuse("Content-Length and Transfer-Encoding must not be sent together")
        }
        if fields.transferEncodings > 1 || (isHTTP10 && fields.transferEncodings > 0) {
            refuse("Transfer-Encoding must be sent once, with HTTP/1.1, as 'chunked'")
        }
        if fields.hosts > 1 || (fields.hosts == 0 && !isHTTP10) {
            refuse("The request must have exactly one Host header")
        }
    }

    /// - Parameter wanted: a name in lower case, of the same length.
    private static func equals(_ name: UnsafeRawBufferPointer, _ wanted: StaticString) -> Bool {
        let text = UnsafeRawPointer(wanted.utf8Start)
        return name[0] | 0x20 == text.load(as: UInt8.self)
            && strncasecmp(
                name.baseAddress!.assumingMemoryBound(to: CChar.self), text.assumingMemoryBound(to: CChar.self),
                name.count) == 0
    }

    /// The value without the white space at its end. The library has removed the white space at the start.
    private static func trimmed(_ value: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var value = value[...]
        while let last = value.last, ASCII.isBlank(last) { value.removeLast() }
        return value
    }

    private static func text(_ value: UnsafeRawBufferPointer) -> String {
        String(decoding: trimmed(value), as: UTF8.self)
    }

    /// Returns true for a character of a token (RFC 9110, 5.6.2).
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}

/// A request target split into its parts (RFC 9112, 3.2).
struct RequestTarget {
    /// The length of the target in bytes.
    let size: Int
    /// Path and query as they were sent, without the question mark if the query is empty.
    let text: String
    /// The length of the path at the beginning of ``text``, in bytes of UTF-8.
    let pathSize: Int
    let query: Query
    /// The problem with the target; `nil` when the target is valid. If there is a problem, ignore `query`.
    let problem: StaticString?
}

extension RequestTarget {
    /// Splits a target. The text is copied.
    init(_ target: UnsafeBufferPointer<UInt8>) {
        let rest = target.first == 0x2F ? target : Self.pathOfAbsoluteForm(target) ?? target
        let mark = rest.firstIndex(of: 0x3F) ?? rest.count
        let queryBytes = UnsafeBufferPointer(rebasing: rest[min(mark + 1, rest.count)...])
        let shown = queryBytes.isEmpty ? UnsafeBufferPointer(rebasing: rest[..<mark]) : rest
        let text = rest.isEmpty && !target.isEmpty ? "/" : String(decoding: shown, as: UTF8.self)
        // Bytes that are not UTF-8 have become longer.
        let utf8 = text.utf8
        let pathSize =
            utf8.count == shown.count
            ? mark : utf8.distance(from: utf8.startIndex, to: utf8.firstIndex(of: 0x3F) ?? utf8.endIndex)
        let query = queryBytes.isEmpty ? Query() : Query(queryBytes)
        let problem: StaticString?
        // Examines all bytes, so that the compiler can examine many at the same time.
        if target.reduce(0, { $0 | (ASCII.isControl($1) || $1 == 0x20 ? 1 : 0) }) != 0 {
            problem = "The request target contains a space or a control character; percent-encode it"
        } else if utf8.first != 0x2F, target.count != 1 || text != "*" {
            problem = "The path in the request line must begin with a slash"
        } else {
            problem = query == nil ? "The query has an invalid percent-encoding or is not UTF-8" : nil
        }
        self.init(size: target.count, text: text, pathSize: pathSize, query: query ?? Query(), problem: problem)
    }

    /// Returns the path and query of a target in absolute form, `http://host/path`, which are empty without a slash;
    /// `nil` for other forms. Clients send the absolute form to proxies, but servers must also accept it (RFC 9112,
    /// 3.2.2).
    private static func pathOfAbsoluteForm(_ target: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        for scheme in ["http://", "https://"] where target.count > scheme.utf8.count {
            let start = scheme.utf8.count
            guard target[..<start].elementsEqual(scheme.utf8, by: { ASCII.lowercased($0) == $1 }) else { continue }
            return UnsafeBufferPointer(rebasing: target[(target[start...].firstIndex(of: 0x2F) ?? target.endIndex)...])
        }
        return nil
    }
}
