public import ChatCore
public import ChatModel
import JSON
public import Signing

/// A post to a source's address as it came.
public struct InboundPost: Sendable {
    public typealias Field = (name: String, value: String)

    /// In the order received; a name may occur more than once, in any case.
    public var headers: [Field]
    /// Decoded names and values of the query.
    public var query: [Field]
    /// The bytes as received, after transfer coding and before everything else.
    public var body: [UInt8]
    /// The URL the sender was given, from configuration; for schemes that sign it.
    public var url: String?
    public var method = "POST"

    public init(
        headers: [Field], query: [Field] = [], body: [UInt8], url: String? = nil, method: String = "POST"
    ) {
        self.headers = headers
        self.query = query
        self.body = body
        self.url = url
        self.method = method
    }

    /// As a scheme sees it.
    var message: SignedMessage {
        SignedMessage(body: body, url: url, method: method, headers: headers) { [self] in
            let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
            return MediaName(type).isForm ? FormFields.read(body) : nil
        }
    }
}

/// What a post became.
public struct InboundReceipt: Sendable {
    /// In the order of the mapping. `isDuplicate`: the sender had posted this delivery before. Empty when the mapping
    /// gives none.
    public var events: [Appended] = []
    /// The answer to a provider's question, which is not to become an event.
    public var handshake: HandshakeResponse?
}

/// What a post would become (`POST /v1/sources/{id}/test`). Nothing was stored.
public struct MappingTestResult: Sendable {
    /// One event the mapping gives.
    public struct Outcome: Sendable {
        public var emission: Emission
        /// What the event would be in the log, for explaining who would be told; nil when it would be refused.
        public var draft: EventDraft?
        /// Why it would be refused; nil when it would be accepted.
        public var refusal: ChatError?
    }

    public var isVerified: Bool
    /// Which of the source's secrets the post is signed with, from 0; nil when none, or when nothing is checked.
    public var secretIndex: Int?
    /// Why the signature was not accepted. For the source's owner only: a sender never learns it.
    public var rejection: String?
    /// The answer, where the post is a provider's question.
    public var handshake: HandshakeResponse?
    /// The mapping tried; nil for one that was only handed in.
    public var mappingVersion: Int?
    public var outcomes: [Outcome] = []
    /// Places where the mapping's conditions gave no event.
    public var dropped = 0
    /// What the mapping could not give.
    public var errors: [ChatError] = []
}

/// How a source answers a provider that asks whether this is the right address.
struct Greeting {
    private let settings: SourceSettings

    init(_ settings: SourceSettings) { self.settings = settings }

    /// To a `GET` or `OPTIONS`; nil for what is no question of the source's provider.
    func answer(_ post: InboundPost) -> HandshakeResponse? {
        switch settings.handshake {
        case .meta where post.method == "GET":
            Handshakes.hub(query: post.query, tokens: [settings.verifyToken].compactMap { $0 }.map { Secret(text: $0) })
        // Also of a record from before the rule: what a scheme signs around the body could be asked for as a token.
        case .x where post.method == "GET" && settings.scheme.signsBodyAlone(settings.options):
            settings.secrets.first.flatMap { Handshakes.crc(query: post.query, secret: Secret(text: $0)) }
        case .cloudevents where post.method == "OPTIONS": CloudEventsValidation.answer(header: post.message.header)
        case .none, .slack, .meta, .x, .cloudevents: nil
        }
    }

    /// To a post that was verified.
    func answerVerified(_ post: InboundPost) -> HandshakeResponse? {
        // Not every post is to be parsed twice: the question is short.
        guard settings.handshake == .slack, post.body.count <= 8 * 1024,
            // A form is no question; other mistakes are told when the post is mapped.
            let root = try? JSONDocument(post.body, limits: JSONLimits(depth: 16), numbers: .lenient).root
        else { return nil }
        return Handshakes.slack(type: root["type"]?.string, challenge: root["challenge"]?.string)
    }
}
