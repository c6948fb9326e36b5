/// The reason why a key's text was rejected.
public enum StandardKeyError: Error, Sendable, Equatable {
    /// The text has none of the prefixes that this kind of key may have.
    case unknownPrefix
    /// The part after the prefix is not base64.
    case notBase64
    /// There are fewer bytes than required, or not the exact number of an Ed25519 key.
    case wrongLength
    /// The public half of an Ed25519 key does not belong to its seed.
    case mismatchedHalves
}

/// A key for signing Standard Webhooks: shared (`whsec_`, signature v1) or Ed25519 (`whsk_`, signature v1a).
public enum StandardSigningKey: Sendable {
    case symmetric(Secret)
    case ed25519(Ed25519PrivateKey)

    /// The minimum length in bytes of a secret that signs. Source: Standard Webhooks, "Signature scheme".
    public static let minimumSecretBytes = 24

    /// Parses the text of a key. A `whsk_` key may be the seed, or seed and public key.
    ///
    /// - Throws: ``StandardKeyError``, which says what is wrong.
    public init(_ text: String) throws(StandardKeyError) {
        if let secret = try KeyText.bytes(of: text, after: "whsec_") {
            guard secret.count >= Self.minimumSecretBytes else { throw .wrongLength }
            self = .symmetric(Secret(secret))
        } else if let bytes = try KeyText.bytes(of: text, after: "whsk_") {
            guard bytes.count == 32 || bytes.count == 64 else { throw .wrongLength }
            guard let key = Ed25519PrivateKey(bytes) else { throw .mismatchedHalves }
            self = .ed25519(key)
        } else {
            throw .unknownPrefix
        }
    }

    /// Generates a shared secret of 24 bytes.
    public static func generate(from random: some RandomSource) -> StandardSigningKey {
        .symmetric(Secret(random.bytes(minimumSecretBytes)))
    }

    /// The key as given to its owner and as stored: `whsec_…`, or `whsk_…` with seed and public key.
    public var text: String {
        switch self {
        case .symmetric(let secret): "whsec_" + Base64.encode(secret.bytes)
        case .ed25519(let key): "whsk_" + Base64.encode(key.bytes)
        }
    }
}

/// A key for verifying Standard Webhooks: shared (`whsec_`) or Ed25519 (`whpk_`).
public enum StandardVerificationKey: Sendable {
    case symmetric(Secret)
    case ed25519(Ed25519PublicKey)

    /// Parses the text of a key. Base64 without a prefix is a shared secret, as some providers present it. Any length
    /// except zero is accepted, because the provider chose it.
    ///
    /// - Throws: ``StandardKeyError``, which says what is wrong.
    public init(_ text: String) throws(StandardKeyError) {
        if let bytes = try KeyText.bytes(of: text, after: "whpk_") {
            guard let key = Ed25519PublicKey(bytes) else { throw .wrongLength }
            self = .ed25519(key)
            return
        }
        guard !text.hasPrefix("whsk_") else { throw .unknownPrefix }
        let digits = text.hasPrefix("whsec_") ? text.dropFirst("whsec_".count) : text[...]
        guard let secret = Base64.decode(digits) else { throw .notBase64 }
        guard !secret.isEmpty else { throw .wrongLength }
        self = .symmetric(Secret(secret))
    }

    /// The key as given to a receiver.
    public var text: String {
        switch self {
        case .symmetric(let secret): "whsec_" + Base64.encode(secret.bytes)
        case .ed25519(let key): "whpk_" + Base64.encode(key.bytes)
        }
    }
}

private enum KeyText {
    /// Decodes the part of a text after this prefix; `nil` when the text does not have the prefix.
    static func bytes(of text: String, after prefix: String) throws(StandardKeyError) -> [UInt8]? {
        guard text.hasPrefix(prefix) else { return nil }
        guard let bytes = Base64.decode(text.dropFirst(prefix.count)) else { throw .notBase64 }
        return bytes
    }
}
