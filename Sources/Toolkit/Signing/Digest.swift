internal import Crypto

/// The hash functions that signatures of other services are made with.
public enum HashAlgorithm: String, Sendable, CaseIterable {
    /// Only where a service demands it. HMAC does not need the collision resistance that SHA-1 lost (RFC 6151 argues
    /// the same for MD5), so verifying with it is sound; nothing of ours is signed with it.
    case sha1
    case sha256
    case sha512

    /// The length of a digest in bytes.
    public var digestLength: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }
}

/// The SHA-256 digest of some bytes: 32 bytes.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
    // A digest is a sequence of unknown length to `Array`, which would grow three times.
    SHA256.hash(data: bytes).withUnsafeBytes { Array($0) }
}

/// The SHA-512 digest of some bytes: 64 bytes.
func sha512(_ bytes: [UInt8]) -> [UInt8] {
    SHA512.hash(data: bytes).withUnsafeBytes { Array($0) }
}

/// A hash-based message authentication code (RFC 2104), fed piece by piece so that nobody has to join the pieces.
///
/// ```swift
/// var code = MessageAuthentication(.sha256, key: secret)
/// code.update("1700000000.")
/// code.update(body)
/// let digest = code.finish()
/// ```
public struct MessageAuthentication {
    // Exactly one is there. An enum would copy the hash state out and in with every update.
    private var sha1: HMAC<Insecure.SHA1>?
    private var sha256: HMAC<SHA256>?
    private var sha512: HMAC<SHA512>?

    public init(_ algorithm: HashAlgorithm, key secret: Secret) {
        let key = SymmetricKey(data: secret.bytes)
        switch algorithm {
        case .sha1: sha1 = HMAC(key: key)
        case .sha256: sha256 = HMAC(key: key)
        case .sha512: sha512 = HMAC(key: key)
        }
    }

    /// Appends bytes to the message.
    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends the UTF-8 bytes of a text to the message.
    public mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        sha1?.update(data: bytes)
        sha256?.update(data: bytes)
        sha512?.update(data: bytes)
    }

    /// The code of everything appended so far.
    public func finish() -> [UInt8] {
        if let sha256 { return Array(sha256.finalize()) }
        if let sha512 { return Array(sha512.finalize()) }
        return sha1.map { Array($0.finalize()) } ?? []
    }

    /// The code of one whole message.
    public static func code(_ algorithm: HashAlgorithm, of message: [UInt8], key: Secret) -> [UInt8] {
        var code = MessageAuthentication(algorithm, key: key)
        code.update(message)
        return code.finish()
    }
}
