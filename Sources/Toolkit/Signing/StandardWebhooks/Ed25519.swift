internal import Crypto

/// An Ed25519 key that signs (RFC 8032).
public struct Ed25519PrivateKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// A key from its 32-byte seed, or from the 64 bytes of seed and public key; `nil` for any other length and when
    /// the two halves do not belong together.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 || bytes.count == 64,
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes.prefix(32))  // fails on length alone
        else { return nil }
        self.key = key
        guard bytes.count == 32 || Array(bytes.suffix(32)) == publicKey.bytes else { return nil }
    }

    /// Seed and public key, the 64 bytes other implementations expect.
    public var bytes: [UInt8] { Array(key.rawRepresentation) + publicKey.bytes }

    /// The key others verify with.
    public var publicKey: Ed25519PublicKey { Ed25519PublicKey(key.publicKey) }

    /// The 64-byte signature of a message.
    func signature(of message: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: message)) }
}

/// An Ed25519 key that verifies.
public struct Ed25519PublicKey: Sendable {
    private let key: Curve25519.Signing.PublicKey

    fileprivate init(_ key: Curve25519.Signing.PublicKey) { self.key = key }

    /// A key from its 32 bytes.
    public init?(_ bytes: [UInt8]) {
        // The only failure is a wrong length.
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return nil }
        self.key = key
    }

    /// The key's 32 bytes.
    public var bytes: [UInt8] { Array(key.rawRepresentation) }

    /// Whether a 64-byte signature was made over this message by the other half of this key.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        key.isValidSignature(signature, for: message)
    }
}
