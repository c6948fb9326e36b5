/// The hash functions that other services use for HMAC signatures.
public enum HashAlgorithm: String, Sendable, CaseIterable {
    /// SHA-1, only for verifying signatures of services that require it. SHA-1 is no longer collision resistant, but
    /// HMAC does not need collision resistance (RFC 6151 argues the same for MD5). The gateway itself signs nothing
    /// with SHA-1.
    case sha1
    case sha256
    case sha512
}

/// Returns the SHA-256 digest of some bytes: 32 bytes.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
    SHA256State.digest(bytes)
}

/// Returns the SHA-512 digest of some bytes: 64 bytes.
func sha512(_ bytes: [UInt8]) -> [UInt8] {
    SHA512State.digest(bytes)
}

/// Computes a hash-based message authentication code (HMAC, RFC 2104). The message can be passed in several pieces.
///
/// ```swift
/// var code = MessageAuthentication(.sha256, key: secret)
/// code.update("1700000000.")
/// code.update(body)
/// let digest = code.finish()
/// ```
public struct MessageAuthentication: Sendable {
    // Exactly one of these properties is set. An enum is not used, because each update would copy the hash state out of
    // the enum and back.
    private var sha1: HMAC<SHA1State>?
    private var sha256: HMAC<SHA256State>?
    private var sha512: HMAC<SHA512State>?

    /// Begins an authentication code with this key. The message is empty at first.
    public init(_ algorithm: HashAlgorithm, key secret: Secret) {
        switch algorithm {
        case .sha1: sha1 = HMAC(key: secret.bytes)
        case .sha256: sha256 = HMAC(key: secret.bytes)
        case .sha512: sha512 = HMAC(key: secret.bytes)
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
        sha1?.update(bytes)
        sha256?.update(bytes)
        sha512?.update(bytes)
    }

    /// Returns the authentication code of all bytes appended so far.
    public func finish() -> [UInt8] {
        if let sha256 { return sha256.finish() }
        if let sha512 { return sha512.finish() }
        return sha1?.finish() ?? []
    }

    /// Returns the authentication code of a complete message.
    public static func code(_ algorithm: HashAlgorithm, of message: [UInt8], key: Secret) -> [UInt8] {
        var code = MessageAuthentication(algorithm, key: key)
        code.update(message)
        return code.finish()
    }
}
