import ChatModel
import HTTPServer
import Signing

extension EntityTag {
    /// The strong entity tag of a representation that has no version: 96 bits of its SHA-256.
    static func of(_ representation: [UInt8]) -> String { quoted(digest(of: representation)) }

    fileprivate static func digest(of representation: [UInt8]) -> String {
        Base64.encodeURL(Array(sha256(representation).prefix(12)))
    }
}

extension Response {
    /// Returns this response to a `GET`, or a 304 when `If-None-Match` contains its tag.
    ///
    /// A 304 keeps the body of the response. The body is not sent, but its length is. Without a length, the connection
    /// would have to close.
    func unlessKnown(_ tag: String, to headers: Headers) -> Response {
        guard EntityTag.isKnown(tag, to: headers) else { return self }
        var response = self
        response.status = 304
        // RFC 9110, 15.4.5: a 304 contains no metadata of the representation except what caches update.
        response.headers.removeAll { $0.name == "Content-Type" }
        return response
    }
}

extension Response {
    /// Returns this response to a `GET` of a record, or a 304 when `If-None-Match` contains its tag. Intended for a
    /// body that contains more than the record, such as counts or the state of a circuit breaker. The tag consists of
    /// the record's version, a full stop and a digest of the body. `If-Match` compares only the version.
    func unlessKnown(version: String, to headers: Headers) -> Response {
        guard case .bytes(let body) = body else { return self }
        let tag = EntityTag.quoted(version + "." + EntityTag.digest(of: body))
        var response = self
        response.headers.removeAll { $0.name == "ETag" }
        response.headers.append(("ETag", tag))
        return response.unlessKnown(tag, to: headers)
    }
}

/// The precondition that `If-Match` sets for the change of a record.
struct Precondition {
    private let isGiven: Bool
    private let tags: [String]

    init(_ headers: Headers) {
        let fields = headers[all: "If-Match"]
        isGiven = !fields.isEmpty
        tags = EntityTag.list(fields)
    }

    /// The precondition for a write that creates the record if it does not exist. `*` requires that the record exists
    /// (RFC 9110, 13.1.1).
    ///
    /// - Parameter current: reads the record's current etag, or nil when the record does not exist. Called only when
    ///   the client sent several tags.
    /// - Throws: `.stale` when no record can meet the precondition.
    func precondition(current: () async throws -> String?) async throws -> RecordChange.Precondition {
        guard isGiven else { return .none }
        if tags.contains("*") { return .present }
        let strong = tags.compactMap(Self.opaque)
        if strong.count == 1 { return .etag(strong[0]) }
        guard let present = try await current(), strong.contains(present) else {
            throw ChatError(
                .stale, "the record no longer has the version in If-Match; read it again, and repeat the change")
        }
        return .etag(present)
    }

    /// The only etag that a write must match; nil when any version may be overwritten. Intended for routes that return
    /// 404 if the record does not exist. On these routes `*` requires nothing, because the precondition is not
    /// evaluated after a 404 (RFC 9110, 13.2.1).
    ///
    /// - Parameter current: reads the record's current etag; called only when the client sent several tags.
    /// - Throws: `.stale` when no tag can match.
    func etag(current: () async throws -> String) async throws -> String? {
        guard case .etag(let etag) = try await precondition(current: current) else { return nil }
        return etag
    }

    /// The version in a strong tag: the text inside the quotes, without the suffix for body and content coding. A tag
    /// without quotes, as in the member `etag` of an object, is also accepted. Nil for a weak tag, because weak tags
    /// never match (RFC 9110, 13.1.1).
    private static func opaque(_ tag: String) -> String? {
        guard tag.contains("\"") else { return String(tag.prefix { $0 != "." }) }
        guard tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
        return String(tag.dropFirst().dropLast().prefix { $0 != "." })
    }
}
