public import ChatModel
import Signing

/// A logged request to a source, with secrets masked, and its outcome.
public struct InboundRequest: Sendable {
    /// The outcome of a request.
    public enum Outcome: String, Sendable, CaseIterable {
        /// At least one event is new.
        case accepted
        /// Every event already existed: the sender repeats a delivery.
        case duplicate
        /// The mapping produced no event.
        case dropped
        /// A provider's handshake, which was answered.
        case handshake
        /// The signature is invalid, or the handshake was denied.
        case signatureInvalid = "signature_invalid"
        /// Rejected because of the body, the mapping or the type's schema.
        case rejected
        /// The gateway could not accept it at that time.
        case failed
    }

    /// The id of the request, unique in the log.
    public var id: String
    /// The time of its arrival.
    public var at: Timetoken
    /// The HTTP method.
    public var method: String
    /// The headers, at most 64, with secrets masked and values truncated to 1024 bytes.
    public var headers: [InboundPost.Field]
    /// The query parameters, masked and truncated in the same way.
    public var query: [InboundPost.Field]
    /// The body: complete for a verified post that was not accepted, otherwise its first 16 KiB.
    public var body: [UInt8]
    /// The length of the whole body, in bytes.
    public var bodyBytes: Int
    /// True when only a part of the body is kept.
    public var isTruncated: Bool { body.count < bodyBytes }
    /// The outcome.
    public var outcome = Outcome.failed
    /// The reason why it was not accepted, for the source's owner. The sender learns less.
    public var reason: String?
    /// The faults of a request that was not accepted, at most 20.
    public var faults: [ChatError.FieldError] = []
    /// The ids of its events, at most 20.
    public var events: [String] = []
    /// The index of the secret that signed it, from 0; nil when it was not verified or the source verifies nothing.
    public var secretIndex: Int?
    /// The version of the mapping that was used.
    public var mappingVersion: Int
    /// The id of the request that this one replays; nil for an original request.
    public var replayOf: String?
    /// The sender's identity of the delivery, for replays; nil when the request was not verified.
    var identity: DeliveryIdentity?
    /// Lower-case names of headers and parameters whose values were masked or truncated.
    let alteredHeaders: Set<String>
    let alteredQuery: Set<String>

    /// True for a request that was verified but not accepted. Its sender may never send it again, so it is kept
    /// complete until the owner has fixed the cause.
    var isKeptWhole: Bool { identity != nil && (outcome == .rejected || outcome == .failed) }

    /// Approximate memory use in bytes.
    var cost: Int {
        let fields = (headers + query).reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        return 512 + body.count + fields + (reason?.utf8.count ?? 0)
            + faults.reduce(0) { $0 + $1.place.utf8.count + $1.detail.utf8.count + 64 } + events.count * 48
    }
}

extension InboundRequest {
    /// Bytes kept of the body of an accepted or unverified post. A post with a longer body cannot be replayed.
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
    /// - Parameter post: the original post, whose body is kept complete if necessary.
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

    /// The logged post for a replay, whose signature is not verified again. Leaves out fields whose values were masked
    /// or truncated, because the sender never sent those values.
    func post(url: String?) -> InboundPost {
        var post = InboundPost(
            headers: headers.filter { !alteredHeaders.contains($0.name.lowercased()) },
            query: query.filter { !alteredQuery.contains($0.name.lowercased()) }, body: body, url: url)
        post.method = method
        return post
    }

    /// The stored fields, and the lower-case names of those whose values were changed.
    typealias StoredHeaders = (fields: [InboundPost.Field], altered: Set<String>)

    private static func covered(_ fields: [InboundPost.Field], _ source: Source) -> StoredHeaders {
        var kept: StoredHeaders = ([], [])
        for field in fields.prefix(mostFields) {
            let name = field.name.lowercased()
            let isSecret =
                name == source.settings.options.header?.lowercased() || secretParts.contains { name.contains($0) }
            let isLong = field.value.utf8.count > valueLimitBytes
            let start = isLong ? String(decoding: field.value.utf8.prefix(valueLimitBytes), as: UTF8.self) : field.value
            kept.fields.append((field.name, isSecret ? "***" : start))
            if isSecret || isLong { kept.altered.insert(name) }
        }
        return kept
    }

    /// Parts of field names that indicate credentials or signatures.
    private static let secretParts = [
        "authorization", "cookie", "signature", "hmac", "token", "secret", "password", "api-key", "apikey", "api_key",
    ]
}
