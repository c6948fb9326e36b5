internal import CCrypto

/// An Ed25519 key that signs (RFC 8032).
public struct Ed25519PrivateKey: Sendable {
    private let key: LibraryKey
    private let seed: Secret
    /// The key with which signatures are verified.
    public let publicKey: Ed25519PublicKey

    /// Creates a key from its 32-byte seed, or from the 64 bytes of seed and public key. Returns `nil` for any other
    /// length and when the two halves do not belong together.
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

    /// Seed and public key: the 64 bytes that other implementations expect.
    public var bytes: [UInt8] { seed.bytes + publicKey.bytes }

    /// Returns the 64-byte signature of a message.
    func signature(of message: [UInt8]) throws(StandardSigningError) -> [UInt8] {
        guard let signature = key.ed25519Signature(of: message) else { throw .failed }
        return signature
    }
}

/// An Ed25519 key that verifies.
public struct Ed25519PublicKey: Sendable {
    private let key: LibraryKey
    /// The key's 32 bytes.
    public let bytes: [UInt8]

    /// Creates a key from its 32 bytes; `nil` for any other length. Bytes that are not a point of the curve make a key
    /// that verifies nothing.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32,
            let key = LibraryKey(owning: EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count))
        else { return nil }
        self.key = key
        self.bytes = bytes
    }

    /// Returns true when a 64-byte signature was made over this message with the private half of this key.
    ///
    /// A signature whose S is not below the order of the group is rejected (RFC 8032, 5.1.7): it would be a second
    /// form of another signature.
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        signature.count == 64 && key.verifies(signature, of: message, digest: nil)
    }
}
