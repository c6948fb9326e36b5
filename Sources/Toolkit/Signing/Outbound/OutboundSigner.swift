import Text

/// Signs the gateway's posts to one webhook, with all kinds of signatures that are configured for the webhook.
///
/// Create one signer for each version of a webhook's settings. The initializer prepares the keys, so that signing a
/// post hashes only the content of the post.
///
/// ```swift
/// let signer = OutboundSigner([.standard, .stripe], keys: [current, previous])
/// let fields = try signer.fields(id: "evt_1", timestamp: 1_700_000_000, url: "https://example.com/hook", body: body)
/// ```
public struct OutboundSigner: Sendable {
    /// A header field.
    public typealias Field = (name: String, value: String)

    /// The kinds of signatures. The raw values are their names in JSON. A post may carry several kinds, for instance
    /// while the webhook's receiver migrates from one kind to another.
    public enum Signature: String, Sendable, CaseIterable {
        /// `webhook-signature: v1,…` of Standard Webhooks.
        case standard
        /// `webhook-signature: v1a,…` of Standard Webhooks, with a private key of the app. The public key is published.
        case standardEd25519 = "standard_ed25519"
        /// `x-hub-signature-256: sha256=…`, the format of GitHub, with the secret's text as the key. The header
        /// contains only one signature. The signature uses the oldest active secret, because the receiver certainly
        /// knows this secret during a rotation.
        case hub = "hub_sha256"
        /// `stripe-signature: t=…,v1=…`, the format of Stripe, with the secret's text as the key.
        case stripe
        /// HTTP Message Signatures (RFC 9421) over the method, the URL and the digest of the body (RFC 9530).
        case rfc9421
    }

    private let standard: StandardSigner?
    private let hub: HMAC<SHA256State>?
    private let stripe: [HMAC<SHA256State>]?
    private let message: MessageSigner?
    /// True when there is no key for one of the requested kinds of signatures.
    private let lacksKey: Bool

    /// Creates a signer and prepares its keys.
    ///
    /// - Parameters:
    ///   - keys: the secrets of the webhook, the current secret first. Each secret signs.
    ///   - ed25519: the app's keys for `.standardEd25519`, the current key first. Each key signs. If `signatures`
    ///     contains `.standardEd25519`, message signatures (`.rfc9421`) also use these keys.
    public init(_ signatures: [Signature], keys: [StandardSigningKey], ed25519: [Ed25519PrivateKey] = []) {
        let wanted = Set(signatures)
        let appKeys = wanted.contains(.standardEd25519) ? ed25519.map { StandardSigningKey.ed25519($0) } : []
        let standardKeys = (wanted.contains(.standard) ? keys : []) + appKeys
        standard = wanted.isDisjoint(with: [.standard, .standardEd25519]) ? nil : StandardSigner(standardKeys)
        // The key is the text that the receiver has, including its prefix.
        let texts = keys.filter(\.isShared).map { HMAC<SHA256State>(key: Array($0.text.utf8)) }
        hub = wanted.contains(.hub) ? texts.last : nil
        stripe = wanted.contains(.stripe) ? texts : nil
        message = wanted.contains(.rfc9421) ? MessageSigner(keys + appKeys) : nil
        lacksKey =
            (wanted.contains(.standard) && keys.isEmpty) || (wanted.contains(.standardEd25519) && ed25519.isEmpty)
            || (texts.isEmpty && !wanted.isDisjoint(with: [.hub, .stripe])) || message?.isEmpty == true
    }

    /// Returns the header fields to add to a post, with names in lower case. The caller must also send `webhook-id` and
    /// `webhook-timestamp` with the values of `id` and `timestamp`.
    ///
    /// - Parameters:
    ///   - id: the id of the event. It must be the same for all attempts.
    ///   - timestamp: the time of this attempt in Unix seconds.
    ///   - url: the exact URL of the post.
    ///   - body: the exact bytes that are sent.
    /// - Throws: ``StandardSigningError`` when a key is missing or a value cannot be signed.
    public func fields(
        id: String, timestamp: Int64, method: String = "POST", url: String, body: [UInt8]
    ) throws(StandardSigningError) -> [Field] {
        guard !lacksKey else { throw .noKeys }
        guard timestamp >= 0 else { throw .invalidTimestamp }
        var fields: [Field] = []
        if let standard {
            fields.append(("webhook-signature", try standard.signature(id: id, timestamp: timestamp, body: body)))
        }
        if var code = hub {
            code.update(body)
            fields.append(("x-hub-signature-256", "sha256=" + Hex.encode(code.finish())))
        }
        if let stripe { fields.append(("stripe-signature", Self.stripe(stripe, timestamp, body))) }
        if let message { fields += try message.fields(timestamp: timestamp, method: method, url: url, body: body) }
        return fields
    }

    private static func stripe(_ keys: [HMAC<SHA256State>], _ timestamp: Int64, _ body: [UInt8]) -> String {
        let head = Array("\(timestamp).".utf8)
        var header = "t=\(timestamp)"
        for key in keys {
            var code = key
            code.update(head)
            code.update(body)
            header += ",v1=" + Hex.encode(code.finish())
        }
        return header
    }
}

extension StandardSigningKey {
    fileprivate var isShared: Bool {
        switch self {
        case .symmetric: true
        case .ed25519: false
        }
    }
}
