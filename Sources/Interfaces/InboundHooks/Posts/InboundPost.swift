public import ChatCore
public import ChatModel
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
