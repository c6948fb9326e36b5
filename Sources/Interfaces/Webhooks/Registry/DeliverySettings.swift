import HTTPClient
public import JSON
import Templates

/// A body of the owner's own (``BuiltInFormat/template``).
public struct WebhookTemplate: Sendable {
    /// As it was written.
    public let text: JSONText
    let compiled: Template

    init(_ text: JSONText) throws(TemplateFaults) {
        self.text = text
        compiled = try Template(text, roots: TemplateFormat.roots)
    }
}

/// What a webhook shows its receiver, beside the signature. Its secrets are never printed.
public enum WebhookAuth: Sendable, Equatable {
    case basic(user: String, password: String)
    case bearer(token: String)
    case oauth2(ClientCredentials)

    /// OAuth 2.0, grant type `client_credentials` (RFC 6749, 4.4).
    public struct ClientCredentials: Sendable, Hashable {
        var tokenURL: String
        var clientID: String
        var clientSecret: String
        public var scope: String?
        public var audience: String?
        /// Whether id and secret go in the body: some servers do not read the header (RFC 6749, 2.3.1).
        var isSentInBody = false
    }
}

/// What a webhook shows and trusts in the TLS handshake.
public struct WebhookTLS: Sendable {
    public var certificate: String?
    /// Never printed.
    public var privateKey: String?
    public var authorities: String?
    let identity: ClientIdentity
    /// What trusts its authorities and shows nothing; nil where it has none.
    let ownAuthorities: ClientIdentity?

    init(certificate: String?, privateKey: String?, authorities: String?) throws(ClientIdentityError) {
        identity = try ClientIdentity(
            certificate: certificate, privateKey: privateKey, authorities: authorities)
        ownAuthorities = try authorities.map { text throws(ClientIdentityError) in try ClientIdentity(authorities: text)
        }
        self.certificate = certificate
        self.privateKey = privateKey
        self.authorities = authorities
    }
}

/// Several events in one post.
public struct WebhookBatch: Sendable, Equatable {
    public var events: Int
    public var bytes: Int

    public init(events: Int, bytes: Int = 1024 * 1024) {
        self.events = events
        self.bytes = bytes
    }
}

/// Whether a receiver must consent before anything is sent to it.
public enum WebhookVerification: String, Sendable, CaseIterable {
    case none
    /// A challenge it has to repeat.
    case echo
    /// The handshake of CloudEvents' webhooks (`conventions.md` 4).
    case cloudevents
}
