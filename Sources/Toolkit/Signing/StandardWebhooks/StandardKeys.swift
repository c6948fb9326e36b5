/// The reason why the text of a key was rejected.
public enum StandardKeyError: Error, Sendable, Equatable {
    /// The text does not begin with a prefix that is allowed for this kind of key.
    case unknownPrefix
    /// The part after the prefix is not base64.
    case notBase64
    /// The key has fewer bytes than required, or does not have the length of an Ed25519 key.
    case wrongLength
    /// The public key of an Ed25519 key does not belong to its seed.
    case mismatchedHalves
}

/// A key for signing Standard Webhooks: a shared secret (`whsec_`, for signatures v1) or an Ed25519 private key
/// (`whsk_`, for signatures v1a).
public enum StandardSigningKey: Sendable {
    case symmetric(Secret)
    case ed25519(Ed25519PrivateKey)

    /// The minimum length in bytes of a shared secret. Source: Standard Webhooks, "Signature scheme".
    public static let minimumSecretBytes = 24

    /// Parses the text of a key. A `whsk_` key may contain only the seed, or the seed and the public key.
    ///
    /// - Throws: ``StandardKeyError`` when the text is not a valid key.
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

    /// The text of the key, which is stored and shown to the owner: `whsec_…`, or `whsk_…` with the seed and the public
    /// key.
    public var text: String {
        switch self {
        case .symmetric(let secret): "whsec_" + Base64.encode(secret.bytes)
        case .ed25519(let key): "whsk_" + Base64.encode(key.bytes)
        }
    }
}

/// A key for verifying Standard Webhooks: a shared secret (`whsec_`) or an Ed25519 public key (`whpk_`).
public enum StandardVerificationKey: Sendable {
    case symmetric(Secret)
    case ed25519(Ed25519PublicKey)

    /// Parses the text of a key. Base64 without a prefix is a shared secret, because some providers show it in this
    /// form. A secret of any length except zero is accepted, because the provider has chosen the length.
    ///
    /// - Throws: ``StandardKeyError`` when the text is not a valid key.
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

    /// The text of the key, which is given to a receiver.
    public var text: String {
        switch self {
        case .symmetric(let secret): "whsec_" + Base64.encode(secret.bytes)
        case .ed25519(let key): "whpk_" + Base64.encode(key.bytes)
        }
    }
}

private enum KeyText {
    /// Decodes the part of a text after this prefix. Returns `nil` when the text does not have the prefix.
    static func bytes(of text: String, after prefix: String) throws(StandardKeyError) -> [UInt8]? {
        guard text.hasPrefix(prefix) else { return nil }
        guard let bytes = Base64.decode(text.dropFirst(prefix.count)) else { throw .notBase64 }
        return bytes
    }
}
