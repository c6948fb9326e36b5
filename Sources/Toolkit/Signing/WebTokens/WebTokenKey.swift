internal import Crypto
internal import CryptoExtras

/// A key that tells whether a `WebToken` is its own, with the one algorithm it is for (RFC 7518, 3; RFC 8037, 3.1).
public struct WebTokenKey: Sendable {
    /// The ways of signing there are, by their names on the wire.
    public enum Algorithm: String, Sendable, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
        case edDSA = "EdDSA"
    }

    private enum Key: Sendable {
        case shared(Secret)
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case ed25519(Ed25519PublicKey)
    }

    private let key: Key

    /// A shared secret, for HS256.
    public init(secret: Secret) { key = .shared(secret) }

    /// The public half of a key pair.
    ///
    /// - Parameters:
    ///   - algorithm: any but HS256: a secret in the place of a public key is how tokens are forged.
    ///   - pem: a SubjectPublicKeyInfo (`-----BEGIN PUBLIC KEY-----`, RFC 7468, 13). RSA keys have 2048 bits or more.
    /// - Returns: nil when it is none, or not one for the algorithm.
    public init?(_ algorithm: Algorithm, pem: String) {
        // The reasons the library gives are about bytes; who brings a key learns which kind was expected.
        switch algorithm {
        case .hs256: return nil
        case .rs256:
            guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) else { return nil }
            self.key = .rsa(key)
        case .es256:
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: pem) else { return nil }
            self.key = .p256(key)
        case .edDSA:
            guard let key = Ed25519PublicKey(pem: pem) else { return nil }
            self.key = .ed25519(key)
        }
    }

    public var algorithm: Algorithm {
        switch key {
        case .shared: .hs256
        case .rsa: .rs256
        case .p256: .es256
        case .ed25519: .edDSA
        }
    }

    /// Whether the token's signature is this key's. Shared secrets are compared in constant time.
    public func signs(_ token: WebToken) -> Bool {
        switch key {
        case .shared(let secret):
            return constantTimeEqual(
                token.signature, MessageAuthentication.code(.sha256, of: token.signed, key: secret))
        case .rsa(let key):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
            return key.isValidSignature(signature, for: SHA256.hash(data: token.signed), padding: .insecurePKCS1v1_5)
        case .p256(let key):
            // 64 bytes; anything else is no signature.
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature) else {
                return false
            }
            return key.isValidSignature(signature, for: token.signed)
        case .ed25519(let key): return key.isValid(token.signature, for: token.signed)
        }
    }
}

extension Ed25519PublicKey {
    /// What comes before the 32 bytes in a SubjectPublicKeyInfo (RFC 8410, 4): two sequences and the key's kind.
    private static let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]

    fileprivate init?(pem: String) {
        let lines = pem.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        guard lines.count >= 3, lines.first == "-----BEGINPUBLICKEY-----", lines.last == "-----ENDPUBLICKEY-----",
            let bytes = Base64.decode(lines.dropFirst().dropLast().joined()), bytes.starts(with: Self.prefix)
        else { return nil }
        self.init(Array(bytes.dropFirst(Self.prefix.count)))
    }
}
