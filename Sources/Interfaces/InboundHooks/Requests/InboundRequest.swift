public import ChatModel
import Signing

/// A request to a source as its log keeps it: what came, with secrets covered, and what became of it.
public struct InboundRequest: Sendable {
    public enum Outcome: String, Sendable, CaseIterable {
        /// At least one event is new.
        case accepted
        /// Every event was there already: the sender repeats itself.
        case duplicate
        /// The mapping gives no event for it.
        case dropped
        /// A provider's question whether this is the right address, answered.
        case handshake
        /// The signature is not valid, or the answer to a handshake would be no.
        case signatureInvalid = "signature_invalid"
        /// The body, the mapping or the type's schema stands against it.
        case rejected
        /// The gateway could not take it at that moment.
        case failed
    }

    public var id: String
    public var at: Timetoken
    public var method: String
    public var headers: [InboundPost.Field]
    public var query: [InboundPost.Field]
    /// The body; of a post that was verified and not refused, and of one that was not verified, the beginning.
    public var body: [UInt8]
    /// The length of the whole body.
    public var bodyBytes: Int
    public var isTruncated: Bool { body.count < bodyBytes }
    public var outcome = Outcome.failed
    /// Why it was not taken. For the source's owner; its sender learns less.
    public var reason: String?
    public var faults: [ChatError.FieldError] = []
    /// The ids of its events.
    public var events: [String] = []
    /// Which of the source's secrets it was signed with, from 0; nil when it was not verified, or nothing is checked.
    public var secretIndex: Int?
    public var mappingVersion: Int
    /// The request this one repeats at its owner's wish.
    public var replayOf: String?
    /// How its sender names the delivery, for replays; nil when it was not verified.
    var identity: DeliveryIdentity?
    /// Names, in lower case, of headers and parameters whose values are not as they came: covered, or cut.
    let alteredHeaders: Set<String>
    let alteredQuery: Set<String>

    /// Verified, and turned away all the same: its sender may never send it again, so it is kept whole until its owner has
    /// mended what stood against it.
    var isKeptWhole: Bool { identity != nil && (outcome == .rejected || outcome == .failed) }

    /// Bytes of it that are kept, about.
    var cost: Int {
        let fields = (headers + query).reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        return 512 + body.count + fields + (reason?.utf8.count ?? 0)
            + faults.reduce(0) { $0 + $1.pointer.utf8.count + $1.detail.utf8.count + 64 } + events.count * 48
    }
}

extension InboundRequest {
    /// The first bytes of a body that are kept of a post that was taken, or not verified; a longer one cannot be replayed.
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

    /// - Parameter post: what came.
    mutating func note(_ error: ChatError, of post: InboundPost) {
        note(error)
        if isKeptWhole { body = post.body }
    }

    mutating func note(_ error: ChatError) {
        switch error.code {
        case .unauthorized: outcome = .signatureInvalid
        case .malformed, .invalid, .tooLarge, .forbidden: outcome = .rejected
        default: outcome = .failed
        }
        reason = reason ?? error.message
        faults = Array(error.faults.prefix(Self.mostListed))
    }

    mutating func note(_ receipt: InboundReceipt) {
        events = receipt.events.prefix(Self.mostListed).map(\.event.id)
        if receipt.handshake != nil {
            outcome = .handshake
        } else if receipt.events.isEmpty {
            outcome = .dropped
        } else {
            outcome = receipt.events.allSatisfy(\.isDuplicate) ? .duplicate : .accepted
        }
    }

    /// The post again: a signature is not checked twice. Fields whose values are covered or cut are not there, as what stands
    /// in their place was never sent.
    func post(url: String?) -> InboundPost {
        var post = InboundPost(
            headers: headers.filter { !alteredHeaders.contains($0.name.lowercased()) },
            query: query.filter { !alteredQuery.contains($0.name.lowercased()) }, body: body, url: url)
        post.method = method
        return post
    }

    /// Fields as they are kept, and the names, in lower case, of those whose values are not as they came.
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

    /// What names of fields with credentials or signatures have in them.
    private static let secretParts = [
        "authorization", "cookie", "signature", "hmac", "token", "secret", "password", "api-key", "apikey", "api_key",
    ]
}
