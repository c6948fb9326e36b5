import HTTPClient
public import JSON
import Templates

/// A body defined by the webhook's owner (``BuiltInFormat/template``).
public struct WebhookTemplate: Sendable {
    /// The text of the template.
    public let text: JSONText
    let compiled: Template

    init(_ text: JSONText) throws(TemplateFaults) {
        self.text = text
        compiled = try Template(text, roots: TemplateFormat.roots)
    }
}

/// The credentials that a webhook sends to its receiver in addition to the signature. The API never returns the
/// secrets.
public enum WebhookAuth: Sendable, Equatable {
    case basic(user: String, password: String)
    case bearer(token: String)
    case oauth2(ClientCredentials)

    /// OAuth 2.0, grant type `client_credentials` (RFC 6749, 4.4).
    public struct ClientCredentials: Sendable, Hashable {
        var tokenURL: String
        var clientID: String
        var clientSecret: String
        /// The requested scope; nil for none.
        public var scope: String?
        /// The requested audience; nil for none.
        public var audience: String?
        /// True to send the id and the secret in the body, because some servers do not read the header (RFC 6749,
        /// 2.3.1).
        var isSentInBody = false
    }
}

/// The client certificate of a webhook, and the certificate authorities that it trusts, for the TLS handshake.
public struct WebhookTLS: Sendable {
    /// The client certificate in PEM; nil for none.
    public var certificate: String?
    /// The private key of the certificate; nil without a certificate. The API never returns the key.
    public var privateKey: String?
    /// The trusted certificate authorities in PEM; nil for the authorities of the operating system.
    public var authorities: String?
    let identity: ClientIdentity
    /// An identity with the webhook's own certificate authorities and without a client certificate; nil when the
    /// webhook trusts the authorities of the operating system.
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

/// The settings for posts with several events.
public struct WebhookBatch: Sendable, Equatable {
    /// The maximum number of events in a post.
    public var events: Int
    /// The maximum size of the body of a post, in bytes.
    public var bytes: Int

    /// Creates batch settings.
    public init(events: Int, bytes: Int = 1024 * 1024) {
        self.events = events
        self.bytes = bytes
    }
}

/// The consent that a receiver must give before deliveries are sent to it.
public enum WebhookVerification: String, Sendable, CaseIterable {
    case none
    /// A challenge that the receiver must return.
    case echo
    /// The handshake of the CloudEvents HTTP webhooks specification.
    case cloudevents
}
