import Locking

/// Compression of responses with gzip (RFC 9110, 8.4.1.3 and 12.5.3).
///
/// The server compresses a response when the client accepts gzip and the body is text, longer than 1 KiB, and
/// completely in memory. Responses that carry a credential set `Cache-Control: no-store` and are not compressed,
/// because the compressed length could reveal the credential (BREACH). Responses with `Cache-Control: no-transform` are
/// not compressed either.
enum ContentCoding {
    static let bytesLeast = 1024

    /// Text types that ``MediaType/isText`` and ``MediaType/isJSON`` do not recognize.
    static let otherTexts: Set = ["application/yaml", "application/javascript", "application/openmetrics-text"]

    /// A cache of compressed bodies, for bodies that are part of the program (``StaticBytes``). The key is the address
    /// of the uncompressed bytes. There is at most one entry for each body.
    static let fixed = Lock<[UnsafeRawPointer?: [UInt8]]>([:])

    /// The suffix of a compressed body's entity tag, including the closing quote. A strong tag identifies exact bytes
    /// (RFC 9110, 8.8.3.3), so the compressed body needs its own tag.
    static let tagEnding = ".gzip\""
}

extension Response {
    /// True when the body is longer than ``ContentCoding/bytesLeast``. Shorter bodies are never compressed.
    var isLong: Bool { (bodyLength ?? 0) > ContentCoding.bytesLeast }

    /// Returns the form of this response for a client that sent these header fields. The body is compressed with gzip
    /// if the client accepts gzip. The compression does not run on the loop's thread. `Vary` is added whenever the
    /// result depends on `Accept-Encoding`.
    nonisolated(nonsending) func compressed(for headers: Headers) async -> Response {
        guard isLong, isCompressible else { return self }
        var response = self
        response.headers.append(("Vary", "Accept-Encoding"))
        guard headers.acceptsGzip, let coded = await gzipped() else { return response }
        response.body = .bytes(coded)
        response.headers.append(("Content-Encoding", "gzip"))
        for index in response.headers.indices where response.headers[index].name == "ETag" {
            response.headers[index].value = response.headers[index].value.dropLast() + ContentCoding.tagEnding
        }
        return response
    }

    private var bodyLength: Int? {
        switch body {
        case .bytes(let bytes): bytes.count
        case .fixed(let bytes): bytes.buffer.count
        case .empty, .pieces, .stream, .deferred: nil
        }
    }

    private var isCompressible: Bool {
        var isText = false
        for (name, value) in headers {
            switch name {
            case "Content-Type":
                let type = MediaType(value)
                isText = type.isJSON || type.isText || ContentCoding.otherTexts.contains(type.text)
            case "Cache-Control":
                if value.contains("no-store") || value.contains("no-transform") { return false }
            case "Content-Encoding": return false
            default: continue
            }
        }
        // A 304 response has no `Content-Type`. Its body is the body of the corresponding 200 response and is used only
        // for its length.
        return isText || status == 304
    }

    private nonisolated(nonsending) func gzipped() async -> [UInt8]? {
        if case .fixed(let bytes) = body, let known = ContentCoding.fixed.withLock({ $0[bytes.buffer.baseAddress] }) {
            return known
        }
        // Compression takes about 1 ms per 90 KiB.
        let coded = (bodyLength ?? 0) > 64 * 1024 ? await asLongWork { gzip() } : await onThreadPool { gzip() }
        if case .fixed(let bytes) = body, let coded {
            ContentCoding.fixed.withLock { $0[bytes.buffer.baseAddress] = coded }
        }
        return coded
    }

    private func gzip() -> [UInt8]? {
        switch body {
        case .bytes(let bytes): bytes.withUnsafeBytes(Deflate.gzip)
        case .fixed(let bytes): Deflate.gzip(bytes.buffer)
        case .empty, .pieces, .stream, .deferred: nil
        }
    }
}

extension Headers {
    /// True when `Accept-Encoding` contains `gzip` or `*` with a weight above zero. False when the client sends no such
    /// field, because every client can read the uncompressed body.
    var acceptsGzip: Bool {
        let codings = self[all: "Accept-Encoding"].flatMap { $0.split(separator: ",") }.map { AcceptedRange($0) }
        let named = codings.last { ["gzip", "x-gzip"].contains($0.type.text) } ?? codings.last { $0.type.text == "*" }
        return (named?.weight ?? 0) > 0
    }
}

/// Functions for entity tags, which identify a version of a resource in `ETag`, `If-Match` and `If-None-Match` (RFC
/// 9110, 8.8.3 and 13.1).
public enum EntityTag {
    /// Returns the strong tag with this opaque text, which must not contain a double quote.
    public static func quoted(_ opaque: String) -> String { "\"\(opaque)\"" }

    /// Returns true when `If-None-Match` contains `tag`, or the tag of the gzip form of the same body. The client then
    /// already has the current version. Tags are compared with the weak comparison (RFC 9110, 13.1.2).
    public static func isKnown(_ tag: String, to headers: Headers) -> Bool {
        list(headers[all: "If-None-Match"]).contains { listed in
            var listed = Substring(listed)
            if listed == "*" { return true }
            if listed.hasPrefix("W/") { listed = listed.dropFirst(2) }
            guard listed.hasSuffix(ContentCoding.tagEnding) else { return listed == tag }
            return listed.dropLast(ContentCoding.tagEnding.count) == tag.dropLast()
        }
    }

    /// Returns the tags in the values of `If-Match` or `If-None-Match` fields. The values are split at every comma. A
    /// tag may contain a comma, but the tags of this server never do, so a tag with a comma could not match anyway.
    public static func list(_ fields: [String]) -> [String] {
        fields.flatMap { $0.split(separator: ",") }.map { part in
            String(part.drop(while: { $0 == " " || $0 == "\t" }).reversed().drop(while: { $0 == " " }).reversed())
        }
    }
}
