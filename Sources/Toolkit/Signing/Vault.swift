import Text

/// Encrypts stored secrets with a key that is stored elsewhere.
///
/// A copy of the database alone does not reveal the secrets. Each encrypted text is valid only in its context, so it
/// cannot be moved to another record. The text contains the id of its key, so that keys can be replaced step by step.
///
/// ```swift
/// let text = vault.seal(secret.bytes, context: "webhook/wh_1")  // sealed:v1:<key id>:<base64>
/// let bytes = try vault.open(text, context: "webhook/wh_1")
/// ```
public struct Vault: Sendable {
    private struct Key: Sendable {
        var id: String
        var key: SealingKey
        /// The key from which nonces are computed; see `nonce`.
        var nonceKey: Secret
    }

    /// The keys of the vault. The first key encrypts. All keys can decrypt.
    private let keys: [Key]

    private static let sealedPrefix = "sealed:v1:"
    private static let plainPrefix = "plain:v1:"
    /// The length of an AES-256 key in bytes.
    static let keyBytes = 32

    /// Creates a vault without a key. Its texts are not encrypted, so anyone who can read the database can read them.
    public init() { keys = [] }

    /// Creates a vault with these keys.
    ///
    /// - Parameter keys: keys of 32 bytes each. The first key encrypts. All keys can decrypt.
    /// - Throws: `.keyInvalid` if a key does not have 32 bytes.
    public init(_ keys: [Secret]) throws(VaultError) {
        guard keys.allSatisfy({ $0.bytes.count == Self.keyBytes }) else { throw .keyInvalid }
        self.keys = keys.map { key in
            Key(
                id: Hex.encode(Array(Self.derived("vault key id", from: key).prefix(4))),
                key: SealingKey(key.bytes), nonceKey: Secret(Self.derived("vault nonce key", from: key)))
        }
    }

    /// Parses keys from the configuration: 32 bytes each in base64, in the standard or URL alphabet, separated by
    /// commas or white space. An empty text creates a vault without a key.
    ///
    /// - Throws: `.keyInvalid` if a key is not valid.
    public init(keys text: String) throws(VaultError) {
        var keys: [Secret] = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init) {
            guard let bytes = Base64.decode(part) ?? Base64.decodeURL(part) else { throw .keyInvalid }
            keys.append(Secret(bytes))
        }
        try self.init(keys)
    }

    /// True when this vault encrypts the texts it creates; false for a vault without a key.
    public var seals: Bool { !keys.isEmpty }

    /// Returns the text to store for these bytes. The same bytes in the same context always result in the same text, so
    /// that storing a value again does not change the record. Different contexts result in different texts, so that
    /// equal secrets cannot be recognized.
    ///
    /// - Parameter context: the record that contains the text, such as `webhook/wh_1`. Opening the text requires the
    ///   same context.
    public func seal(_ bytes: [UInt8], context: String) -> String {
        guard let key = keys.first else { return Self.plainPrefix + Base64.encode(bytes) }
        let nonce = Self.nonce(bytes, context, key.nonceKey)
        let sealed = key.key.seal(bytes, nonce: nonce, context: Array(context.utf8))
        return "\(Self.sealedPrefix)\(key.id):\(Base64.encode(nonce + sealed))"
    }

    /// Returns the bytes of a stored text. A text that was not created by a vault is returned unchanged, because it was
    /// stored before the vault existed.
    ///
    /// - Throws: `.keyUnknown` if the text was encrypted with a key that this vault does not have; `.damaged` if the
    ///   text was changed, truncated or moved to another context.
    public func open(_ text: String, context: String) throws(VaultError) -> [UInt8] {
        if let sealed = text.rest(after: Self.sealedPrefix) { return try open(sealed: sealed, context) }
        guard let plain = text.rest(after: Self.plainPrefix) else { return Array(text.utf8) }
        guard let bytes = Base64.decode(plain) else { throw .damaged }
        return bytes
    }

    /// Returns true when a stored text has the form in which this vault would store it now: encrypted with the first
    /// key, or not encrypted if the vault has no key.
    public func isCurrent(_ text: String) -> Bool {
        text.hasPrefix(keys.first.map { "\(Self.sealedPrefix)\($0.id):" } ?? Self.plainPrefix)
    }

    /// Returns true when this vault has the key with this id.
    public func knows(key id: String) -> Bool { keys.contains { $0.id == id } }

    /// Searches a longer text for an encrypted text, and returns the id of the first encrypted text's key; `nil` when
    /// there is no encrypted text.
    public static func keyID(in text: String) -> String? {
        text.firstRange(of: sealedPrefix).map { String(text[$0.upperBound...].prefix { $0 != ":" }) }
    }

    /// Returns true when a text was created by a vault; false for a text that was stored before the vault existed.
    public static func isStoredForm(_ text: String) -> Bool {
        text.hasPrefix(sealedPrefix) || text.hasPrefix(plainPrefix)
    }

    private func open(sealed: Substring, _ context: String) throws(VaultError) -> [UInt8] {
        let parts = sealed.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64.decode(parts[1]) else { throw .damaged }
        guard let key = keys.first(where: { $0.id == parts[0] }) else {
            throw .keyUnknown(id: String(parts[0].prefix(64)))
        }
        // A text that is too short results in the same error as a text whose tag does not match, because the difference
        // is not relevant to the reader of the log.
        let nonce = Array(bytes.prefix(SealingKey.nonceBytes))
        guard let opened = key.key.open(bytes.dropFirst(nonce.count), nonce: nonce, context: Array(context.utf8))
        else { throw .damaged }
        return opened
    }

    /// Returns a nonce that is derived from the bytes and the context. The nonce repeats only for the same bytes and
    /// context, for which the stored text is also the same. Nonces of different inputs are expected to collide only
    /// after about 2^48 texts.
    private static func nonce(_ bytes: [UInt8], _ context: String, _ key: Secret) -> [UInt8] {
        var code = MessageAuthentication(.sha256, key: key)
        code.update("\(context.utf8.count):\(context)")
        code.update(bytes)
        return Array(code.finish().prefix(SealingKey.nonceBytes))
    }

    /// Derives bytes from a key for the purpose `use`. The derived bytes do not reveal the key or the bytes derived for
    /// other purposes.
    private static func derived(_ use: String, from key: Secret) -> [UInt8] {
        MessageAuthentication.code(.sha256, of: Array(use.utf8), key: key)
    }
}

/// The reason why a stored secret cannot be read.
public enum VaultError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A key is not 32 bytes in base64.
    case keyInvalid
    /// The text was encrypted with a key that this vault does not have.
    case keyUnknown(id: String)
    /// The text was changed or truncated, or was encrypted for another context.
    case damaged

    /// One sentence about the error, for the operator.
    public var description: String {
        switch self {
        case .keyInvalid: "a key must be 32 bytes in base64"
        case .keyUnknown(let id): "the secret is encrypted with the key \(id), which is not in the setting secrets_key"
        case .damaged: "the encrypted secret is damaged or belongs to another record"
        }
    }
}

extension Vault {
    /// Returns the text to store for the UTF-8 bytes of `text`.
    public func seal(_ text: String, context: String) -> String { seal(Array(text.utf8), context: context) }

    /// Returns the content of a stored text as a string.
    ///
    /// - Throws: the errors of `open`, and `.damaged` if the bytes are not UTF-8.
    public func openText(_ text: String, context: String) throws(VaultError) -> String {
        guard let opened = String(validating: try open(text, context: context), as: UTF8.self) else { throw .damaged }
        return opened
    }
}

extension String {
    fileprivate func rest(after prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}

/// Key material. The type prevents the bytes from appearing by accident in a log line, an error message or a dump.
///
/// Code that needs the key material must read ``bytes`` explicitly. Descriptions of this value never contain it.
public struct Secret: Sendable, Hashable {
    /// The key material itself.
    public let bytes: [UInt8]

    /// Creates a secret from its bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a secret with a copy of these bytes.
    public init(_ bytes: Span<UInt8>) { self.bytes = bytes.withUnsafeBufferPointer { Array($0) } }

    /// Creates a secret from the UTF-8 bytes of a text. Use it for services whose key is the text that they show to the
    /// user.
    public init(text: String) { bytes = Array(text.utf8) }

    /// Adds the bytes to a hasher.
    public func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }

    /// Returns true if two secrets are equal. The time does not depend on the content of secrets of equal length.
    public static func == (left: Secret, right: Secret) -> Bool {
        constantTimeEqual(left.bytes, right.bytes)
    }

    /// Returns true if the secret has these bytes. The time does not depend on the content of bytes of equal length.
    public func equals(_ bytes: Span<UInt8>) -> Bool { constantTimeEqual(self.bytes.span, bytes) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// An ellipsis instead of the key material.
    public var description: String { "…" }
    /// An ellipsis instead of the key material.
    public var debugDescription: String { "…" }
    /// A mirror without children, so that `dump` and the string interpolation of an enclosing type do not show the
    /// bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
