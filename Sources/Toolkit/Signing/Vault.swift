import Text

/// Encrypts stored secrets with a key that is stored elsewhere.
///
/// A copy of the database alone does not reveal the secrets. Each text is bound to its context, so that it cannot be
/// moved to another place. It names the key that it was encrypted with, so that keys can be replaced step by step.
///
/// ```swift
/// let text = vault.seal(secret.bytes, context: "webhook/wh_1")  // sealed:v1:<key id>:<base64>
/// let bytes = try vault.open(text, context: "webhook/wh_1")
/// ```
public struct Vault: Sendable {
    private struct Key: Sendable {
        var id: String
        var key: SealingKey
        /// The key from which nonces are computed: see `nonce`.
        var nonceKey: Secret
    }

    /// The first key encrypts; all of them decrypt.
    private let keys: [Key]

    private static let sealedPrefix = "sealed:v1:"
    private static let plainPrefix = "plain:v1:"
    /// The key length of AES-256.
    static let keyBytes = 32

    /// Creates a vault without a key: its texts can be read by anyone who reads the database.
    public init() { keys = [] }

    /// - Parameter keys: 32 bytes each. The first key encrypts; all of them decrypt.
    /// - Throws: `.keyInvalid` for a key of another length.
    public init(_ keys: [Secret]) throws(VaultError) {
        guard keys.allSatisfy({ $0.bytes.count == Self.keyBytes }) else { throw .keyInvalid }
        self.keys = keys.map { key in
            Key(
                id: Hex.encode(Array(Self.derived("vault key id", from: key).prefix(4))),
                key: SealingKey(key.bytes), nonceKey: Secret(Self.derived("vault nonce key", from: key)))
        }
    }

    /// Parses keys in the form of the configuration: 32 bytes in base64, in either alphabet, separated by commas or white
    /// space. An empty text creates a vault without a key.
    ///
    /// - Throws: `.keyInvalid` for anything else.
    public init(keys text: String) throws(VaultError) {
        var keys: [Secret] = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init) {
            guard let bytes = Base64.decode(part) ?? Base64.decodeURL(part) else { throw .keyInvalid }
            keys.append(Secret(bytes))
        }
        try self.init(keys)
    }

    /// True when the texts of this vault cannot be read without a key.
    public var seals: Bool { !keys.isEmpty }

    /// Returns the text to store. The same bytes in the same context give the same text, so that storing a value again
    /// changes nothing. Different contexts give different texts, so that equal secrets do not look equal.
    ///
    /// - Parameter context: the place of the text, such as `webhook/wh_1`; opening requires the same context.
    public func seal(_ bytes: [UInt8], context: String) -> String {
        guard let key = keys.first else { return Self.plainPrefix + Base64.encode(bytes) }
        let nonce = Self.nonce(bytes, context, key.nonceKey)
        let sealed = key.key.seal(bytes, nonce: nonce, context: Array(context.utf8))
        return "\(Self.sealedPrefix)\(key.id):\(Base64.encode(nonce + sealed))"
    }

    /// Returns the bytes of a stored text. A text in neither of the vault's forms was stored before there was a vault,
    /// and is returned unchanged.
    ///
    /// - Throws: `.keyUnknown` for a text encrypted with a key that this vault does not have; `.damaged` for one that
    ///   was changed, truncated or moved to another context.
    public func open(_ text: String, context: String) throws(VaultError) -> [UInt8] {
        if let sealed = text.rest(after: Self.sealedPrefix) { return try open(sealed: sealed, context) }
        guard let plain = text.rest(after: Self.plainPrefix) else { return Array(text.utf8) }
        guard let bytes = Base64.decode(plain) else { throw .damaged }
        return bytes
    }

    /// True when a stored text has the form that this vault would store now: encrypted with the first key.
    public func isCurrent(_ text: String) -> Bool {
        text.hasPrefix(keys.first.map { "\(Self.sealedPrefix)\($0.id):" } ?? Self.plainPrefix)
    }

    /// True when this vault has the key with this id.
    public func knows(key id: String) -> Bool { keys.contains { $0.id == id } }

    /// The id of the key with which the first encrypted text inside a longer text was encrypted; `nil` when there is
    /// none.
    public static func keyID(in text: String) -> String? {
        text.firstRange(of: sealedPrefix).map { String(text[$0.upperBound...].prefix { $0 != ":" }) }
    }

    /// True when a text has one of the vault's forms, and is not a clear text from before there was a vault.
    public static func isStoredForm(_ text: String) -> Bool {
        text.hasPrefix(sealedPrefix) || text.hasPrefix(plainPrefix)
    }

    private func open(sealed: Substring, _ context: String) throws(VaultError) -> [UInt8] {
        let parts = sealed.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64.decode(parts[1]) else { throw .damaged }
        guard let key = keys.first(where: { $0.id == parts[0] }) else {
            throw .keyUnknown(id: String(parts[0].prefix(64)))
        }
        // A text that is too short and one whose tag does not match have the same reason: the difference does not
        // matter to the reader of the log.
        let nonce = Array(bytes.prefix(SealingKey.nonceBytes))
        guard let opened = key.key.open(bytes.dropFirst(nonce.count), nonce: nonce, context: Array(context.utf8))
        else { throw .damaged }
        return opened
    }

    /// Returns a nonce that depends on everything that is encrypted. It repeats only with the very same bytes and
    /// context, for which the result is also the same. Nonces of different inputs collide by chance after about 2^48.
    private static func nonce(_ bytes: [UInt8], _ context: String, _ key: Secret) -> [UInt8] {
        var code = MessageAuthentication(.sha256, key: key)
        code.update("\(context.utf8.count):\(context)")
        code.update(bytes)
        return Array(code.finish().prefix(SealingKey.nonceBytes))
    }

    /// Returns bytes for one use of a key, which reveal neither the key nor its other derived bytes.
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
    /// The text was changed, truncated, or encrypted for another place.
    case damaged

    /// One sentence for the operator.
    public var description: String {
        switch self {
        case .keyInvalid: "a key must be 32 bytes in base64"
        case .keyUnknown(let id): "sealed with the key \(id), which is not among the keys"
        case .damaged: "the sealed text is damaged or does not belong here"
        }
    }
}

extension Vault {
    /// Returns the text to store for a text.
    public func seal(_ text: String, context: String) -> String { seal(Array(text.utf8), context: context) }

    /// Opens a stored text whose content is text.
    ///
    /// - Throws: like `open`; `.damaged` for bytes that are not UTF-8.
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

/// Key material that does not appear by accident in a log line, an error text or a dump.
///
/// Code that needs the bytes reads them explicitly; nothing prints them.
public struct Secret: Sendable, Hashable {
    /// The key material itself.
    public let bytes: [UInt8]

    /// Creates a secret from its bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a secret from the UTF-8 bytes of a text, for services whose key is the text as shown to the user.
    public init(text: String) { bytes = Array(text.utf8) }

    /// Compares in constant time for secrets of equal length.
    public static func == (left: Secret, right: Secret) -> Bool {
        constantTimeEqual(left.bytes, right.bytes)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// An ellipsis instead of the bytes.
    public var description: String { "…" }
    /// An ellipsis instead of the bytes.
    public var debugDescription: String { "…" }
    /// A mirror without children, so that `dump` and string interpolation of an enclosing type do not show the bytes
    /// either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
