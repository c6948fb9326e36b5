/// Keeps secrets unreadable where they are stored, with a key that is stored elsewhere.
///
/// Whoever copies the database does not have the secrets. Each text is bound to its context, so that one cannot be moved
/// into another's place, and says which key it was sealed with, so that keys can be changed one after the other.
///
/// ```swift
/// let text = vault.seal(secret.bytes, context: "webhook/wh_1")  // sealed:v1:<key id>:<base64>
/// let bytes = try vault.open(text, context: "webhook/wh_1")
/// ```
public struct Vault: Sendable {
    private struct Key: Sendable {
        var id: String
        var key: SealingKey
        /// Draws nonces: see `nonce`.
        var nonceKey: Secret
    }

    /// The first seals, all open.
    private let keys: [Key]

    private static let sealedPrefix = "sealed:v1:"
    private static let plainPrefix = "plain:v1:"
    /// AES-256.
    static let keyBytes = 32

    /// A vault without a key: what it stores can be read by whoever reads the database.
    public init() { keys = [] }

    /// - Parameter keys: 32 bytes each; the first seals, all open.
    public init(_ keys: [Secret]) throws(VaultError) {
        guard keys.allSatisfy({ $0.bytes.count == Self.keyBytes }) else { throw .keyInvalid }
        self.keys = keys.map { key in
            Key(
                id: Hex.encode(Array(Self.derived("vault key id", from: key).prefix(4))),
                key: SealingKey(key.bytes), nonceKey: Secret(Self.derived("vault nonce key", from: key)))
        }
    }

    /// Reads keys as an operator writes them: 32 bytes in base64, of either alphabet, separated by commas. An empty text is
    /// a vault without a key.
    public init(keys text: String) throws(VaultError) {
        var keys: [Secret] = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init) {
            guard let bytes = Base64.decode(part) ?? Base64.decodeURL(part) else { throw .keyInvalid }
            keys.append(Secret(bytes))
        }
        try self.init(keys)
    }

    /// Whether what is stored from now on is unreadable without a key.
    public var seals: Bool { !keys.isEmpty }

    /// The text to store: the same for the same bytes in the same context, so that storing what is there already changes
    /// nothing; another one in another context, so that equal secrets do not look equal.
    ///
    /// - Parameter context: where the text belongs, such as `webhook/wh_1`; opening demands the same.
    public func seal(_ bytes: [UInt8], context: String) -> String {
        guard let key = keys.first else { return Self.plainPrefix + Base64.encode(bytes) }
        let nonce = Self.nonce(bytes, context, key.nonceKey)
        let sealed = key.key.seal(bytes, nonce: nonce, context: Array(context.utf8))
        return "\(Self.sealedPrefix)\(key.id):\(Base64.encode(nonce + sealed))"
    }

    /// The bytes of a stored text. One of neither form is from before there was a vault, and stands for itself.
    ///
    /// - Throws: `.keyUnknown` for a text sealed with a key that is not here; `.damaged` for one that was changed, cut or
    ///   moved to another context.
    public func open(_ text: String, context: String) throws(VaultError) -> [UInt8] {
        if let sealed = text.rest(after: Self.sealedPrefix) { return try open(sealed: sealed, context) }
        guard let plain = text.rest(after: Self.plainPrefix) else { return Array(text.utf8) }
        guard let bytes = Base64.decode(plain) else { throw .damaged }
        return bytes
    }

    /// Whether a stored text is as this vault would store it now: sealed with the first key.
    public func isCurrent(_ text: String) -> Bool {
        text.hasPrefix(keys.first.map { "\(Self.sealedPrefix)\($0.id):" } ?? Self.plainPrefix)
    }

    /// Whether a text sealed with the key of that id can be opened.
    public func knows(key id: String) -> Bool { keys.contains { $0.id == id } }

    /// The id of the key that the first sealed text in a longer one was sealed with; nil where there is none.
    public static func keyID(in text: String) -> String? {
        text.firstRange(of: sealedPrefix).map { String(text[$0.upperBound...].prefix { $0 != ":" }) }
    }

    /// Whether a text is of one of the forms this writes, and not a clear text from before there was a vault.
    public static func isStoredForm(_ text: String) -> Bool {
        text.hasPrefix(sealedPrefix) || text.hasPrefix(plainPrefix)
    }

    private func open(sealed: Substring, _ context: String) throws(VaultError) -> [UInt8] {
        let parts = sealed.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64.decode(parts[1]) else { throw .damaged }
        guard let key = keys.first(where: { $0.id == parts[0] }) else {
            throw .keyUnknown(id: String(parts[0].prefix(64)))
        }
        // Too short, or a tag that does not fit: the reason is the same for whoever reads the log.
        let nonce = Array(bytes.prefix(SealingKey.nonceBytes))
        guard let opened = key.key.open(bytes.dropFirst(nonce.count), nonce: nonce, context: Array(context.utf8))
        else { throw .damaged }
        return opened
    }

    /// A nonce that depends on all that is sealed: it comes again only with the very same bytes and context, where the
    /// outcome is the same too. Two that differ meet by chance after some 2^48.
    private static func nonce(_ bytes: [UInt8], _ context: String, _ key: Secret) -> [UInt8] {
        var code = MessageAuthentication(.sha256, key: key)
        code.update("\(context.utf8.count):\(context)")
        code.update(bytes)
        return Array(code.finish().prefix(SealingKey.nonceBytes))
    }

    /// Bytes for one use of a key, which tell nothing of it or of its other uses.
    private static func derived(_ use: String, from key: Secret) -> [UInt8] {
        MessageAuthentication.code(.sha256, of: Array(use.utf8), key: key)
    }
}

/// Why a stored secret cannot be had.
public enum VaultError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A key that is not 32 bytes in base64.
    case keyInvalid
    /// Sealed with a key this vault does not have.
    case keyUnknown(id: String)
    /// Changed, cut, or sealed for another place.
    case damaged

    public var description: String {
        switch self {
        case .keyInvalid: "a key must be 32 bytes in base64"
        case .keyUnknown(let id): "sealed with the key \(id), which is not among the keys"
        case .damaged: "the sealed text is damaged or does not belong here"
        }
    }
}

extension Vault {
    /// Stores a text.
    public func seal(_ text: String, context: String) -> String { seal(Array(text.utf8), context: context) }

    /// Opens what was a text.
    /// - Throws: as `open`; `.damaged` for bytes that are no UTF-8.
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

/// Key material that never appears in a log line, an error text or a dump by accident.
///
/// Whoever needs the bytes asks for them by name; nothing prints them.
public struct Secret: Sendable, Hashable {
    /// The key material itself.
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The UTF-8 bytes of a text, for the services whose key is the text as shown to the user.
    public init(text: String) { bytes = Array(text.utf8) }

    /// Compares in constant time for secrets of equal length.
    public static func == (left: Secret, right: Secret) -> Bool {
        constantTimeEqual(left.bytes, right.bytes)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "…" }
    public var debugDescription: String { "…" }
    /// Without children, so that `dump` and string interpolation of an enclosing type show nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
