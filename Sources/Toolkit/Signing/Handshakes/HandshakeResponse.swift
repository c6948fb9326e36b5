/// What answers a provider that asks whether an address is really its owner's, before it posts there.
public struct HandshakeResponse: Sendable, Equatable {
    public var status: Int
    /// Nil for an answer without a body.
    public var contentType: String?
    public var body: String
    public var headers: [Header]

    public struct Header: Sendable, Equatable {
        public var name: String
        public var value: String
    }

    init(status: Int = 200, contentType: String? = nil, body: String = "", headers: [Header] = []) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// What was sent, sent back: as plain text, so that nobody takes it for a page.
    static func echo(_ text: String) -> HandshakeResponse {
        HandshakeResponse(contentType: "text/plain; charset=utf-8", body: text)
    }
}

/// The questions of providers that are answered by echoing or signing.
///
/// Each returns nil for what is no such question. None of them has an effect, so repeating one does no harm.
public enum Handshakes {
    /// The longest text that is echoed.
    static let echoLimitBytes = 1024

    /// Slack: a post with `{"type":"url_verification","challenge":…}`. It is signed like any other: check that first.
    ///
    /// - Parameters: the members of the body, when they are texts.
    public static func slack(type: String?, challenge: String?) -> HandshakeResponse? {
        guard type == "url_verification", let challenge, challenge.utf8.count <= echoLimitBytes else { return nil }
        return .echo(challenge)
    }

    /// Meta, and those who ask like it: `GET ?hub.mode=subscribe&hub.verify_token=…&hub.challenge=…`.
    ///
    /// - Parameter tokens: any of which may be named; the ones the owner gave to the provider.
    /// - Returns: 403 without a token that is one of them.
    public static func hub(
        query: [SignedMessage.Field], tokens: [Secret]
    ) -> HandshakeResponse? {
        guard value("hub.mode", in: query) == "subscribe", let challenge = value("hub.challenge", in: query),
            challenge.utf8.count <= echoLimitBytes
        else { return nil }
        // Digests have one length: comparing does not tell that of the token.
        let digest = sha256(Array((value("hub.verify_token", in: query) ?? "").utf8))
        guard tokens.contains(where: { constantTimeEqual(sha256($0.bytes), digest) }) else {
            return HandshakeResponse(status: 403)
        }
        return .echo(challenge)
    }

    /// X: `GET ?crc_token=…`, answered with its HMAC.
    ///
    /// Anybody may ask, so whoever answers must take no post whose body `isToken`: its signature is given away.
    /// - Parameter secret: the consumer secret, which also signs the posts.
    public static func crc(query: [SignedMessage.Field], secret: Secret) -> HandshakeResponse? {
        guard let token = value("crc_token", in: query), isToken(token.utf8) else { return nil }
        let code = MessageAuthentication.code(.sha256, of: Array(token.utf8), key: secret)
        return HandshakeResponse(
            contentType: "application/json", body: #"{"response_token":"sha256=\#(Base64.encode(code))"}"#)
    }

    /// Whether X could have sent this as its token: up to 128 characters of Base64, in either alphabet. No JSON object,
    /// list or text is one.
    public static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        (1...128).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "+/-_=".utf8.contains(byte)
                }
            }
    }

    private static func value(_ name: String, in query: [SignedMessage.Field]) -> String? {
        query.first { $0.name == name }?.value
    }
}
