extension Ed25519PublicKey {
    /// The key as a JSON Web Key (RFC 8037), one line of JSON, for a set at `/.well-known/jwks.json`.
    public var jwk: String {
        #"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64.encodeURL(bytes))","kid":"\#(thumbprint)","use":"sig","alg":"EdDSA"}"#
    }

    /// The key's name, made of the key itself (RFC 7638).
    public var thumbprint: String {
        Base64.encodeURL(sha256(Array(#"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64.encodeURL(bytes))"}"#.utf8)))
    }
}

extension Ed25519PrivateKey {
    /// A fresh key.
    public static func generate(from random: some RandomSource) -> Ed25519PrivateKey {
        guard let key = Ed25519PrivateKey(random.bytes(32)) else { preconditionFailure("any 32 bytes are a seed") }
        return key
    }
}
