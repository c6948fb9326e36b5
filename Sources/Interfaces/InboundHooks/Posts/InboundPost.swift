import ChatCore
public import ChatModel
import JSON
public import Signing

/// A request to a source, as received.
public struct InboundPost: Sendable {
    /// A header, query parameter or form field.
    public typealias Field = (name: String, value: String)

    /// The headers in the order received. A name may repeat, in any case.
    public var headers: [Field]
    /// Decoded names and values of the query.
    public var query: [Field]
    /// The bytes after transfer decoding and before any other processing.
    public var body: [UInt8]
    /// The URL that the sender posts to, from the configuration; for schemes that sign it.
    public var url: String?
    /// The HTTP method.
    public var method = "POST"

    /// A post as it was received.
    public init(
        headers: [Field], query: [Field] = [], body: [UInt8], url: String? = nil, method: String = "POST"
    ) {
        self.headers = headers
        self.query = query
        self.body = body
        self.url = url
        self.method = method
    }

    /// The post in the form that signature schemes verify.
    var message: SignedMessage {
        SignedMessage(body: body, url: url, method: method, headers: headers) { [self] in
            let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
            return MediaName(type).isForm ? FormFields.read(body) : nil
        }
    }
}

/// The result of an accepted post.
public struct InboundReceipt: Sendable {
    /// The events in the order of the mapping; empty when the mapping produces none. `isDuplicate` is true when the
    /// sender had already posted this delivery.
    public var events: [Appended] = []
    /// The response to a provider's handshake, which does not become an event.
    public var handshake: HandshakeResponse?
}

/// The result of testing a post (`POST /v1/sources/{id}/test`). Nothing was stored.
public struct MappingTestResult: Sendable {
    /// One event of the mapping.
    public struct Outcome: Sendable {
        /// The event that the mapping produced.
        public var rendered: EventDraft
        /// The event as it would be logged, which determines its recipients; nil when it would be rejected.
        public var prepared: EventDraft?
        /// The reason why it would be rejected; nil when it would be accepted.
        public var refusal: ChatError?
    }

    /// True when the signature is valid.
    public var isVerified: Bool
    /// The index of the secret that signed the post, from 0; nil when none did or nothing is verified.
    public var secretIndex: Int?
    /// The reason why the signature was not accepted. For the source's owner only; senders never receive it.
    public var rejection: String?
    /// The response, when the post is a provider's handshake.
    public var handshake: HandshakeResponse?
    /// The version of the tested mapping; nil for a draft.
    public var mappingVersion: Int?
    /// The events of the mapping, in its order.
    public var outcomes: [Outcome] = []
    /// The number of places where a condition of the mapping excluded an event.
    public var dropped = 0
    /// Errors of the body and of the mapping.
    public var errors: [ChatError] = []
}

/// Answers the handshakes of a source's provider.
struct Greeting {
    private let settings: SourceSettings

    init(_ settings: SourceSettings) { self.settings = settings }

    /// Answers a `GET` or `OPTIONS` request. Returns nil for a request that is not a handshake of the source's
    /// provider.
    func answer(_ post: InboundPost) -> HandshakeResponse? {
        switch settings.handshake {
        case .meta where post.method == "GET":
            Handshakes.hub(query: post.query, tokens: [settings.verifyToken].compactMap { $0 }.map { Secret(text: $0) })
        // Checked here too, for records that predate the rule: otherwise anybody could request, as a token, the text
        // that a scheme signs around the body.
        case .x where post.method == "GET" && settings.scheme.signsBodyAlone(settings.options):
            settings.secrets.first.flatMap { Handshakes.crc(query: post.query, secret: Secret(text: $0)) }
        case .cloudevents where post.method == "OPTIONS": CloudEventsValidation.answer(header: post.message.header)
        case .none, .slack, .meta, .x, .cloudevents: nil
        }
    }

    /// Answers a verified post. Returns nil for a post that is not a handshake.
    func answerVerified(_ post: InboundPost) -> HandshakeResponse? {
        // A handshake is short; the limit avoids parsing every post twice.
        guard settings.handshake == .slack, post.body.count <= 8 * 1024,
            // A form is not a handshake. Other errors are reported when the post is mapped.
            let root = try? JSONDocument(post.body, limits: JSONLimits(depth: 16), numbers: .lenient).root
        else { return nil }
        return Handshakes.slack(type: root["type"]?.string, challenge: root["challenge"]?.string)
    }
}
