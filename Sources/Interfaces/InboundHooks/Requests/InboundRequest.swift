import Glibc
public import ChatModel
import Signing

/// A logged request to a source and its outcome. Secrets in the request are masked.
public struct InboundRequest: Sendable {
    /// The outcome of a request.
    public enum Outcome: String, Sendable, CaseIterable {
        /// At least one event was new.
        case accepted
        /// All events already existed, because the sender has repeated a delivery.
        case duplicate
        /// The mapping produced no event.
        case dropped
        /// The request was a provider's handshake, and the source has responded to it.
        case handshake
        /// The signature is invalid, or the handshake was denied.
        case signatureInvalid = "signature_invalid"
        /// The post was rejected because of its body, the mapping or the schema of an event type.
        case rejected
        /// The gateway could not accept the post at that time.
        case failed
    }

    /// The id of the request, unique in the log.
    public var id: String
    /// The time at which the request arrived.
    public var at: Timetoken
    /// The HTTP method.
    public var method: String
    /// The headers, at most 64, with secrets masked and values truncated to 1024 bytes.
    public var headers: [InboundPost.Field]
    /// The query parameters, at most 64, with secrets masked and values truncated to 1024 bytes.
    public var query: [InboundPost.Field]
    /// The body of the request. It is complete for a verified post that was not accepted; otherwise it is the first 16
    /// KiB.
    public var body: [UInt8]
    /// The length of the whole body, in bytes.
    public var bodyBytes: Int
    /// True when the log contains only a part of the body.
    public var isTruncated: Bool { body.count < bodyBytes }
    /// The outcome.
    public var outcome = Outcome.failed
    /// The reason why the request was not accepted, for the owner of the source; nil for an accepted request. The
    /// sender receives less detail.
    public var reason: String?
    /// The faults of a request that was not accepted, at most 20.
    public var faults: [ChatError.FieldError] = []
    /// The ids of the events that the request produced, at most 20.
    public var events: [String] = []
    /// The index of the secret that signed the request, from 0; nil when the request was not verified, or when the
    /// source verifies nothing.
    public var secretIndex: Int?
    /// The version of the mapping that was used.
    public var mappingVersion: Int
    /// The id of the request of which this request is a replay; nil for an original request.
    public var replayOf: String?
    /// The delivery id of the sender, which a replay uses again; nil when the request was not verified.
    var identity: DeliveryIdentity?
    /// The names, in lower case, of headers and parameters whose values were masked or truncated.
    let alteredHeaders: [String]
    let alteredQuery: [String]

    /// True for a request that was verified but not accepted. Its sender may never repeat the request, so the whole
    /// body is stored until the owner has corrected the cause.
    var isKeptWhole: Bool { identity != nil && (outcome == .rejected || outcome == .failed) }

    /// The approximate memory that the request uses, in bytes.
    var cost: Int {
        func bytes(_ fields: [InboundPost.Field]) -> Int {
            fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        }
        return 512 + body.count + bytes(headers) + bytes(query) + (reason?.utf8.count ?? 0)
            + faults.reduce(0) { $0 + $1.place.utf8.count + $1.detail.utf8.count + 64 } + events.count * 48
    }
}

extension InboundRequest {
    /// The maximum number of logged bytes of the body of an accepted or unverified post. A post with a longer body
    /// cannot be replayed.
    static let bodyLimitBytes = 16 * 1024
    private static let mostFields = 64
    private static let valueLimitBytes = 1024
    private static let mostListed = 20

    init(_ post: InboundPost, id: String, at now: Timetoken, by source: Source) {
        self.init(
            id: id, at: now, method: post.method, headers: Self.covered(post.headers, source),
            query: Self.covered(post.query, source), body: Array(post.body.prefix(Self.bodyLimitBytes)),
            bodyBytes: post.body.count, mappingVersion: source.mappingVersion)
    }

    init(
        id: String, at: Timetoken, method: String, headers: StoredHeaders, query: StoredHeaders, body: [UInt8],
        bodyBytes: Int, mappingVersion: Int
    ) {
        self.id = id
        self.at = at
        self.method = method
        (self.headers, alteredHeaders) = headers
        (self.query, alteredQuery) = query
        self.body = body
        self.bodyBytes = bodyBytes
        self.mappingVersion = mappingVersion
    }

    /// Records an error.
    ///
    /// - Parameter post: the original post. Its whole body is logged if the request was verified.
    mutating func record(_ error: ChatError, of post: InboundPost) {
        record(error)
        if isKeptWhole { body = post.body }
    }

    mutating func record(_ error: ChatError) {
        switch error.code {
        case .unauthorized: outcome = .signatureInvalid
        case .malformed, .invalid, .tooLarge, .forbidden: outcome = .rejected
        default: outcome = .failed
        }
        reason = reason ?? error.message
        faults = Array(error.faults.prefix(Self.mostListed))
    }

    mutating func record(_ receipt: InboundReceipt) {
        events = receipt.events.prefix(Self.mostListed).map(\.event.id)
        if receipt.handshake != nil {
            outcome = .handshake
        } else if receipt.events.isEmpty {
            outcome = .dropped
        } else {
            outcome = receipt.events.allSatisfy(\.isDuplicate) ? .duplicate : .accepted
        }
    }

    /// The post of a logged request, for a replay without verification. Fields whose values were masked or truncated
    /// are left out, because the log does not contain the values that the sender sent.
    func post(url: String?) -> InboundPost {
        var post = InboundPost(
            headers: headers.filter { !alteredHeaders.contains($0.name.lowercased()) },
            query: query.filter { !alteredQuery.contains($0.name.lowercased()) }, body: body, url: url)
        post.method = method
        return post
    }

    /// The logged fields, and the lower-case names of the fields whose values were changed.
    typealias StoredHeaders = (fields: [InboundPost.Field], altered: [String])

    private static func covered(_ fields: [InboundPost.Field], _ source: Source) -> StoredHeaders {
        var altered: [String] = []
        let signed = source.settings.options.header?.lowercased()
        let kept = fields.prefix(mostFields).map { field -> InboundPost.Field in
            let name = field.name.lowercased()
            let isSecret = name == signed || isSecret(name)
            let isLong = field.value.utf8.count > valueLimitBytes
            if isSecret || isLong { altered.append(name) }
            if isSecret { return (field.name, "***") }
            guard isLong else { return field }
            return (field.name, String(decoding: field.value.utf8.prefix(valueLimitBytes), as: UTF8.self))
        }
        return (kept, altered)
    }

    /// True for a name that contains one of ``secretParts``. Compares bytes, because every request has many fields and a
    /// search for characters is slow.
    private static func isSecret(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { name in
            name.indices.contains { start in
                firstLetters & 1 << UInt32(name[start] & 31) != 0
                    && secretParts.contains { part in
                        let count = part.utf8CodeUnitCount
                        return name[start] == part.utf8Start[0] && count <= name.count - start
                            && memcmp(name.baseAddress! + start, part.utf8Start, count) == 0
                    }
            }
        }
    }

    /// Parts of field names that indicate credentials or signatures.
    private static let secretParts: [StaticString] = [
        "authorization", "cookie", "signature", "hmac", "token", "secret", "password", "api-key", "apikey", "api_key",
    ]

    /// The first letters of ``secretParts`` as a bit set of their last five bits. The parts are compared only at these
    /// letters.
    private static let firstLetters: UInt32 = secretParts.reduce(0) { $0 | 1 << UInt32($1.utf8Start[0] & 31) }
}
