internal import CCrypto

/// An Ed25519 private key, which creates signatures (RFC 8032).
public struct Ed25519PrivateKey: Sendable {
    private let key: LibraryKey
    private let seed: Secret
    /// The public key, which verifies the signatures of this key.
    public let publicKey: Ed25519PublicKey

    /// Creates a key from its 32-byte seed, or from 64 bytes: the seed followed by the public key. Returns `nil` for
    /// any other length, and if the public key does not belong to the seed.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 || bytes.count == 64 else { return nil }
        seed = Secret(Array(bytes.prefix(32)))
        guard let key = LibraryKey(owning: EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed.bytes, 32)),
            let publicKey = Ed25519PublicKey(key.rawPublicKey)
        else { return nil }
        self.key = key
        self.publicKey = publicKey
        guard bytes.count == 32 || Array(bytes.suffix(32)) == publicKey.bytes else { return nil }
    }

    /// The seed followed by the public key: the 64 bytes that other implementations expect.
    public var bytes: [UInt8] { seed.bytes + publicKey.bytes }

    /// Returns the 64-byte signature of a message.
    func signature(of message: [UInt8]) throws(StandardSigningError) -> [UInt8] {
        guard let signature = key.ed25519Signature(of: message) else { throw .failed }
        return signature
    }
}

/// An Ed25519 public key, which verifies signatures.
public struct Ed25519PublicKey: Sendable {
    private let key: LibraryKey
    /// The 32 bytes of the key.
    public let bytes: [UInt8]

    /// Creates a key from its 32 bytes. Returns `nil` for any other length. If the bytes are not a point of the curve,
    /// no signature is valid for the key.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32,
            let key = LibraryKey(owning: EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count))
        else { return nil }
        self.key = key
        self.bytes = bytes
    }

    /// Returns true if the 64-byte signature of this message was created with the private key that belongs to this key.
    ///
    /// A signature whose value S is not below the order of the group is rejected (RFC 8032, 5.1.7), because each
    /// signature would otherwise have a second valid form.
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        signature.count == 64 && key.verifies(signature, of: message, digest: nil)
    }
}
