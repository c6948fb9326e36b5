import Text

/// Creates HTTP Message Signatures (RFC 9421), one for each key. The signatures cover the method, the URL and the
/// digest of the body (RFC 9530).
struct MessageSigner: Sendable {
    private struct Key: Sendable {
        enum Material: Sendable {
            case shared(HMAC<SHA256State>)
            case ed25519(Ed25519PrivateKey)
        }

        var material: Material
        /// The last part of the signature parameters, which is the same for every message.
        var parameters: String
    }

    private static let components = #"("@method" "@target-uri" "content-digest")"#
    private let keys: [Key]

    init(_ keys: [StandardSigningKey]) {
        self.keys = keys.map { key in
            switch key {
            case .symmetric(let secret):
                Key(
                    material: .shared(HMAC(key: secret.bytes)),
                    parameters: ";keyid=\"\(Self.id(of: secret))\";alg=\"hmac-sha256\"")
            case .ed25519(let key):
                Key(
                    material: .ed25519(key),
                    parameters: ";keyid=\"\(key.publicKey.thumbprint)\";alg=\"ed25519\"")
            }
        }
    }

    var isEmpty: Bool { keys.isEmpty }

    func fields(
        timestamp: Int64, method: String, url: String, body: [UInt8]
    ) throws(StandardSigningError) -> [OutboundSigner.Field] {
        let digest = "sha-256=:\(Base64.encode(sha256(body))):"
        let head = """
            "@method": \(method)
            "@target-uri": \(Self.target(url))
            "content-digest": \(digest)
            "@signature-params": 
            """
        var inputs = ""
        var signatures = ""
        for (index, key) in keys.enumerated() {
            let parameters = "\(Self.components);created=\(timestamp)\(key.parameters)"
            let signature = Base64.encode(try Self.sign(Array((head + parameters).utf8), with: key.material))
            let separator = index == 0 ? "" : ", "
            inputs += "\(separator)sig\(index + 1)=\(parameters)"
            signatures += "\(separator)sig\(index + 1)=:\(signature):"
        }
        return [("content-digest", digest), ("signature-input", inputs), ("signature", signatures)]
    }

    private static func sign(_ base: [UInt8], with key: Key.Material) throws(StandardSigningError) -> [UInt8] {
        switch key {
        case .shared(let keyed):
            var code = keyed
            code.update(base)
            return code.finish()
        case .ed25519(let key): return try key.signature(of: base)
        }
    }

    /// Returns the URL in the form in which the receiver reconstructs it from the request: without the standard port of
    /// the scheme, and with a path that is never empty.
    private static func target(_ url: String) -> String {
        guard let parts = URLParts(url) else { return url }
        let isStandard = parts.authority.hasSuffix(parts.scheme == "https" ? ":443" : ":80")
        guard isStandard || parts.path.isEmpty else { return url }
        return "\(parts.scheme)://\(parts.component("@authority") ?? "")\(parts.component("@path") ?? "")\(parts.query)"
    }

    /// Returns the id of a shared key: the first 8 bytes of its digest. A receiver with several keys can compute the id
    /// of each key.
    private static func id(of secret: Secret) -> String { Hex.encode(Array(sha256(secret.bytes).prefix(8))) }
}

extension Ed25519PublicKey {
    /// The public key as a JSON Web Key (RFC 8037) on one line, for the key set at `/.well-known/jwks.json`.
    public var jwk: String {
        #"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64.encodeURL(bytes))","kid":"\#(thumbprint)","use":"sig","alg":"EdDSA"}"#
    }

    /// The id of the key: its JWK thumbprint (RFC 7638).
    public var thumbprint: String {
        Base64.encodeURL(sha256(Array(#"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64.encodeURL(bytes))"}"#.utf8)))
    }
}

extension Ed25519PrivateKey {
    /// Generates a new key from random bytes.
    public static func generate(from random: some RandomSource) -> Ed25519PrivateKey {
        guard let key = Ed25519PrivateKey(random.bytes(32)) else {
            preconditionFailure("32 bytes were not accepted as an Ed25519 key")
        }
        return key
    }
}
