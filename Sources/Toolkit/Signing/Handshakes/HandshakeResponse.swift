/// The response to a provider that verifies the ownership of an address before it posts there.
public struct HandshakeResponse: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The media type of the body; `nil` for a response without a body.
    public var contentType: String?
    /// The body.
    public var body: String
    /// Additional header fields.
    public var headers: [Header]

    /// A header field.
    public struct Header: Sendable, Equatable {
        /// The name of the field.
        public var name: String
        /// The value of the field.
        public var value: String
    }

    init(status: Int = 200, contentType: String? = nil, body: String = "", headers: [Header] = []) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// Creates a response that echoes a text, as plain text, so that no browser treats it as a page.
    static func echo(_ text: String) -> HandshakeResponse {
        HandshakeResponse(contentType: "text/plain; charset=utf-8", body: text)
    }
}

/// Verification requests of providers that are answered by echoing or signing a text.
///
/// Each function returns `nil` for any other request. None of them has side effects, so repeated requests do no harm.
public enum Handshakes {
    /// The longest text in bytes that is echoed.
    static let echoLimitBytes = 1024

    /// Slack: a post with `{"type":"url_verification","challenge":…}`. The post is signed like any other: verify the
    /// signature first.
    ///
    /// - Parameters: the members of the body, when they are texts.
    public static func slack(type: String?, challenge: String?) -> HandshakeResponse? {
        guard type == "url_verification", let challenge, challenge.utf8.count <= echoLimitBytes else { return nil }
        return .echo(challenge)
    }

    /// Meta, and providers that verify in the same way: `GET ?hub.mode=subscribe&hub.verify_token=…&hub.challenge=…`.
    ///
    /// - Parameter tokens: the tokens that the owner has given to the provider; the request may contain any of them.
    /// - Returns: 403 when the request contains none of the tokens.
    public static func hub(
        query: [SignedMessage.Field], tokens: [Secret]
    ) -> HandshakeResponse? {
        guard value("hub.mode", in: query) == "subscribe", let challenge = value("hub.challenge", in: query),
            challenge.utf8.count <= echoLimitBytes
        else { return nil }
        // Digests have the same length, so the comparison does not reveal the length of the token.
        let digest = sha256(Array((value("hub.verify_token", in: query) ?? "").utf8))
        guard tokens.contains(where: { constantTimeEqual(sha256($0.bytes), digest) }) else {
            return HandshakeResponse(status: 403)
        }
        return .echo(challenge)
    }

    /// X: `GET ?crc_token=…`, answered with the token's HMAC.
    ///
    /// Anyone can send this request and so obtain a signature of a token. The caller must therefore accept no post
    /// whose body satisfies `isToken`.
    ///
    /// - Parameter secret: the consumer secret, which also signs the posts.
    public static func crc(query: [SignedMessage.Field], secret: Secret) -> HandshakeResponse? {
        guard let token = value("crc_token", in: query), isToken(token.utf8) else { return nil }
        let code = MessageAuthentication.code(.sha256, of: Array(token.utf8), key: secret)
        return HandshakeResponse(
            contentType: "application/json", body: #"{"response_token":"sha256=\#(Base64.encode(code))"}"#)
    }

    /// True when X could have sent this as its token: up to 128 characters of Base64, in either alphabet. No JSON
    /// object, array or string qualifies.
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
