import ChatModel
import HTTPServer
import Signing

extension EntityTag {
    /// The strong tag of a representation that has no version of its own: 96 bits of its SHA-256.
    static func of(_ representation: [UInt8]) -> String { quoted(digest(of: representation)) }

    fileprivate static func digest(of representation: [UInt8]) -> String {
        Base64.encodeURL(Array(sha256(representation).prefix(12)))
    }
}

extension Response {
    /// This answer to a `GET`, or a 304 when `If-None-Match` names its tag.
    ///
    /// The body stays: it is not sent with a 304, but says the length, without which the connection would have to close.
    func unlessKnown(_ tag: String, to headers: Headers) -> Response {
        guard EntityTag.isKnown(tag, to: headers) else { return self }
        var response = self
        response.status = 304
        // RFC 9110, 15.4.5: no metadata of the representation but what caches update.
        response.headers.removeAll { $0.name == "Content-Type" }
        return response
    }
}

extension Response {
    /// This answer to a `GET` of a record, or a 304, where the body says more than the record: counts, or how a circuit is. The
    /// tag then names the record's version and, behind a full stop, the body; `If-Match` looks at the version alone.
    func unlessKnown(version: String, to headers: Headers) -> Response {
        guard case .bytes(let body) = body else { return self }
        let tag = EntityTag.quoted(version + "." + EntityTag.digest(of: body))
        var response = self
        response.headers.removeAll { $0.name == "ETag" }
        response.headers.append(("ETag", tag))
        return response.unlessKnown(tag, to: headers)
    }
}

/// What `If-Match` demands of a record before it is changed.
struct Precondition {
    private let isGiven: Bool
    private let tags: [String]

    init(_ headers: Headers) {
        let fields = headers[all: "If-Match"]
        isGiven = !fields.isEmpty
        tags = EntityTag.list(fields)
    }

    /// The demand on a record that the write would make where there is none; `*` demands that there be one (RFC 9110, 13.1.1).
    ///
    /// - Parameter current: reads the record's present etag, nil where there is none; called only when the client named several.
    /// - Throws: `.stale` when no record could meet the demand.
    func demand(current: () async throws -> String?) async throws -> RecordChange.Precondition {
        guard isGiven else { return .none }
        if tags.contains("*") { return .present }
        let strong = tags.compactMap(Self.opaque)
        if strong.count == 1 { return .etag(strong[0]) }
        guard let present = try await current(), strong.contains(present) else {
            throw ChatError(.stale, "the record is at another version than If-Match names; read it again")
        }
        return .etag(present)
    }

    /// The one etag that a write must meet; nil when any will do. For records that are not found where there is none: then the
    /// precondition does not count (RFC 9110, 13.2.1), so that `*` demands nothing.
    ///
    /// - Parameter current: reads the record's present etag; called only when the client named several.
    /// - Throws: `.stale` when none can meet it.
    func etag(current: () async throws -> String) async throws -> String? {
        guard case .etag(let etag) = try await demand(current: current) else { return nil }
        return etag
    }

    /// The version between the quotes of a strong tag, whatever body and coding it names behind it. The member `etag` of an object
    /// is accepted without quotes too. Weak tags never match here (RFC 9110, 13.1.1).
    private static func opaque(_ tag: String) -> String? {
        guard tag.contains("\"") else { return String(tag.prefix { $0 != "." }) }
        guard tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
        return String(tag.dropFirst().dropLast().prefix { $0 != "." })
    }
}
