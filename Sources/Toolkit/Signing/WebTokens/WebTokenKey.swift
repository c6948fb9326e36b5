internal import CCrypto

/// A key that verifies the signature of a ``WebToken``. Each key is for exactly one algorithm (RFC 7518, 3; RFC 8037,
/// 3.1).
public struct WebTokenKey: Sendable {
    /// The supported algorithms. The raw values are their names in tokens.
    public enum Algorithm: String, Sendable, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
        case edDSA = "EdDSA"
    }

    private enum Key: Sendable {
        case shared(Secret)
        case rsa(LibraryKey)
        case p256(LibraryKey)
        case ed25519(Ed25519PublicKey)
    }

    private let key: Key

    /// Creates a key from a shared secret, for HS256.
    public init(secret: Secret) { key = .shared(secret) }

    /// Creates a key from a public key.
    ///
    /// - Parameters:
    ///   - algorithm: any algorithm except HS256. With HS256, an attacker could use the public key as a shared secret
    ///     and forge tokens.
    ///   - pem: a SubjectPublicKeyInfo (`-----BEGIN PUBLIC KEY-----`, RFC 7468, 13). RSA keys have 2048 to 8192 bits
    ///     and an exponent of at most 33 bits.
    /// - Returns: `nil` when the text is not a key, or not a key for the algorithm.
    public init?(_ algorithm: Algorithm, pem: String) {
        guard let info = SubjectPublicKeyInfo(pem: pem) else { return nil }
        let key: Key? =
            switch algorithm {
            case .hs256: nil
            case .rs256: info.rsaKey.map { .rsa($0) }
            case .es256: info.p256Key.map { .p256($0) }
            case .edDSA: info.ed25519Key.map { .ed25519($0) }
            }
        guard let key else { return nil }
        self.key = key
    }

    /// The algorithm that the key is for.
    public var algorithm: Algorithm {
        switch key {
        case .shared: .hs256
        case .rsa: .rs256
        case .p256: .es256
        case .ed25519: .edDSA
        }
    }

    /// Returns true if the token was signed with this key. For a shared secret, the signatures are compared in constant
    /// time.
    public func signs(_ token: WebToken) -> Bool {
        switch key {
        case .shared(let secret):
            return constantTimeEqual(
                token.signature, MessageAuthentication.code(.sha256, of: token.signed, key: secret))
        case .rsa(let key): return key.verifies(token.signature, of: token.signed, digest: sha256Function)
        case .p256(let key):
            guard let signature = ecdsaSignature(token.signature) else { return false }
            return key.verifies(signature, of: token.signed, digest: sha256Function)
        case .ed25519(let key): return key.isValid(token.signature, for: token.signed)
        }
    }
}

/// A public key in DER: a SubjectPublicKeyInfo (RFC 5280, 4.1).
private struct SubjectPublicKeyInfo {
    let bytes: [UInt8]

    /// Parses a public key. Returns `nil` when the text is not a public key in PEM.
    ///
    /// - Parameter pem: one PEM block `PUBLIC KEY` (RFC 7468, 13) without other text.
    init?(pem: String) {
        let lines = pem.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        guard lines.count >= 3, lines.first == "-----BEGINPUBLICKEY-----", lines.last == "-----ENDPUBLICKEY-----",
            let bytes = Base64.decode(lines.dropFirst().dropLast().joined())
        else { return nil }
        self.bytes = bytes
    }

    /// The DER bytes before the 32 bytes of an Ed25519 key (RFC 8410, 4): two sequences and the type of the key.
    private static let ed25519: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
    /// The DER bytes before the 64 bytes of an uncompressed point on the named curve P-256 (RFC 5480, 2).
    private static let p256: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
        0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    var ed25519Key: Ed25519PublicKey? {
        guard bytes.starts(with: Self.ed25519) else { return nil }
        return Ed25519PublicKey(Array(bytes.dropFirst(Self.ed25519.count)))
    }

    /// The key as a P-256 key; `nil` when it is not a P-256 key or the point is not on the curve.
    var p256Key: LibraryKey? {
        guard bytes.starts(with: Self.p256), bytes.count == Self.p256.count + 64 else { return nil }
        return LibraryKey(subjectPublicKeyInfo: bytes)
    }

    /// The key as an RSA key; `nil` when it is not an RSA key or is rejected. Keys that are restricted to PSS are
    /// rejected. Keys with a long modulus or exponent are also rejected, because verifying a signature would cost the
    /// gateway much more than sending it costs the client.
    var rsaKey: LibraryKey? {
        guard let key = LibraryKey(subjectPublicKeyInfo: bytes), key.kind == EVP_PKEY_RSA,
            (2048...8192).contains(key.bits), key.isSoundRSAKey
        else { return nil }
        return key
    }
}

/// SHA-256 for libcrypto's signatures. The function is fetched once, because OpenSSL 3 would otherwise look it up by
/// its name for each signature.
private nonisolated(unsafe) let sha256Function: OpaquePointer = {
    guard let function = EVP_MD_fetch(nil, "SHA256", nil) else {
        preconditionFailure("libcrypto offers no SHA-256; check OPENSSL_CONF")
    }
    return function
}()

/// Converts an ECDSA signature from 64 bytes r‖s (RFC 7518, 3.4) to DER (RFC 3279, 2.2.3). Returns `nil` for another
/// length.
private func ecdsaSignature(_ raw: [UInt8]) -> [UInt8]? {
    guard raw.count == 64, let signature = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(signature) }
    let (r, s) = raw.withUnsafeBufferPointer { bytes in
        (BN_bin2bn(bytes.baseAddress, 32, nil), BN_bin2bn(bytes.baseAddress.map { $0 + 32 }, 32, nil))
    }
    guard let r, let s, ECDSA_SIG_set0(signature, r, s) == 1 else {
        BN_free(r)
        BN_free(s)
        return nil
    }
    // The DER form has at most 2 + 2 × (2 + 33) = 72 bytes.
    var encoded = [UInt8](repeating: 0, count: 72)
    let count = encoded.withUnsafeMutableBufferPointer { buffer in
        var next = buffer.baseAddress
        return Int(i2d_ECDSA_SIG(signature, &next))
    }
    return count > 0 ? Array(encoded.prefix(count)) : nil
}

/// A signed token in the compact form (RFC 7515, 7.1): `header.claims.signature`, each in base64url.
///
/// The initializer only splits the token into its parts. Do not trust any part before ``WebTokenKey/signs(_:)`` has
/// returned true. The `alg` of the header never selects the algorithm (RFC 8725, 3.1).
public struct WebToken: Sendable {
    /// The JSON text of the header.
    public let header: [UInt8]
    /// The JSON text of the claims.
    public let claims: [UInt8]
    let signature: [UInt8]
    /// The signed text: the first two parts as received, with the dot between them.
    let signed: [UInt8]

    /// Splits a token into its parts. Returns `nil` for a text that is not a token. A text without two dots is rejected
    /// at almost no cost.
    ///
    /// - Parameter text: the complete token. The caller must limit its length.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decodeURL(String(parts[0]) ?? ""),
            let claims = Base64.decodeURL(String(parts[1]) ?? ""),
            let signature = Base64.decodeURL(String(parts[2]) ?? ""), !header.isEmpty, !claims.isEmpty
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array(text.utf8[..<parts[1].endIndex])
    }

    /// Returns the text of a token with these claims, signed with HS256.
    public static func text(claims: [UInt8], secret: Secret) -> String {
        let signed = Base64.encodeURL(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + Base64.encodeURL(claims)
        let code = MessageAuthentication.code(.sha256, of: Array(signed.utf8), key: secret)
        return signed + "." + Base64.encodeURL(code)
    }
}
