import ChatCore
public import ChatModel
import JSON
public import Signing

/// A request to a source, as received.
public struct InboundPost: Sendable {
    /// A header, query parameter or form field.
    public typealias Field = (name: String, value: String)

    /// The headers in the order received. Names may repeat, and their case is that of the request.
    public var headers: [Field]
    /// The parameters of the query, with decoded names and values.
    public var query: [Field]
    /// The body after transfer decoding, otherwise unchanged.
    public var body: [UInt8]
    /// The URL to which the sender posts, from the configuration; nil when it is not configured. Some schemes sign the
    /// URL.
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

    /// The parts of the post that signature schemes verify.
    var message: SignedMessage {
        SignedMessage(body: body, url: url, method: method, headers: headers) { message in
            message.media.isForm ? FormFields.read(message.body) : nil
        }
    }
}

/// The result of an accepted post.
public struct InboundReceipt: Sendable {
    /// The events in the order of the mapping; empty when the mapping produces none. `isDuplicate` of an event is true
    /// when the sender had already posted this delivery.
    public var events: AppendedEvents = []
    /// The response to a provider's handshake, which does not become an event; nil for other posts.
    public var handshake: HandshakeResponse?
}

/// The result of testing a post (`POST /v1/sources/{id}/test`). A test stores nothing.
public struct MappingTestResult: Sendable {
    /// The result of the test for one event of the mapping.
    public struct Outcome: Sendable {
        /// The event that the mapping produced.
        public var rendered: EventDraft
        /// The event in the form in which it would be stored, which determines its recipients; nil when it would be
        /// rejected.
        public var prepared: EventDraft?
        /// The reason why the event would be rejected; nil when it would be accepted.
        public var refusal: ChatError?
    }

    /// True when the signature is valid.
    public var isVerified: Bool
    /// The index of the secret that signed the post, from 0; nil when no secret signed it, or when the source verifies
    /// nothing.
    public var secretIndex: Int?
    /// The reason why the signature was not accepted; nil when it was accepted. Only the owner of the source receives
    /// the reason, never the sender.
    public var rejection: String?
    /// The response to the post if it is a provider's handshake; nil for other posts.
    public var handshake: HandshakeResponse?
    /// The version of the tested mapping; nil when a draft was tested.
    public var mappingVersion: Int?
    /// The events of the mapping, in its order.
    public var outcomes: [Outcome] = []
    /// The number of events that the mapping excluded, by a condition (`when`) or by a `$switch` that selected `null`.
    public var dropped = 0
    /// Errors of the body and of the mapping.
    public var errors: [ChatError] = []
}

/// The responses to the handshakes with which a source's provider verifies a URL.
extension SourceSettings {
    /// Returns the response to a `GET` or `OPTIONS` request; nil when the request is not a handshake of the source's
    /// provider.
    func answer(_ post: InboundPost) -> HandshakeResponse? {
        switch handshake {
        case .meta where post.method == "GET":
            Handshakes.hub(query: post.query, tokens: [verifyToken].compactMap { $0 }.map { Secret(text: $0) })
        // This rule is also checked when settings are stored, but older records may violate it. Without the rule,
        // anyone could request the signature of a text as a token, and post that text as a signed body.
        case .x where post.method == "GET" && scheme.signsBodyAlone(options):
            secrets.first.flatMap { Handshakes.crc(query: post.query, secret: Secret(text: $0)) }
        case .cloudevents where post.method == "OPTIONS": CloudEventsValidation.answer(header: post.message.header)
        case .none, .slack, .meta, .x, .cloudevents: nil
        }
    }

    /// Returns the response to a verified post; nil when the post is not a handshake.
    func answerVerified(_ post: InboundPost) -> HandshakeResponse? {
        // A handshake is short. The limit avoids parsing every post twice.
        guard handshake == .slack, post.body.count <= 8 * 1024,
            // A body that cannot be parsed is not a handshake. The mapping of the post reports the error.
            let root = try? JSONDocument(post.body, limits: JSONLimits(depth: 16), numbers: .lenient).root
        else { return nil }
        return Handshakes.slack(type: root["type"]?.string, challenge: root["challenge"]?.string)
    }
}
