/// Turns bytes into text that only the holder of a key can read or make: base64url of AES-256-GCM's nonce and output.
///
/// For what the gateway gives out and knows again. A text of one purpose is none of another.
///
/// ```swift
/// let seal = TextSeal(key: key, purpose: "stream ticket")
/// let text = seal.seal(body)
/// let body = seal.open(text, mostBytes: 16 * 1024)
/// ```
public struct TextSealer: Sendable {
    private let key: SealingKey
    private let nonceKey: Secret

    public init(key: Secret, purpose: String) {
        self.key = SealingKey(Self.derived("text seal: " + purpose, from: key))
        nonceKey = Secret(Self.derived("text seal nonce: " + purpose, from: key))
    }

    /// The same bytes give the same text; whoever must tell two apart puts something random into them.
    public func seal(_ bytes: [UInt8]) -> String {
        // A nonce comes again only with the very same bytes, where the outcome is the same too.
        let nonce = Array(MessageAuthentication.code(.sha256, of: bytes, key: nonceKey).prefix(SealingKey.nonceBytes))
        return Base64.encodeURL(nonce + key.seal(bytes, nonce: nonce, context: []))
    }

    /// The bytes of a text that `seal` gave.
    ///
    /// - Parameter mostBytes: longer texts are not even looked at.
    /// - Returns: nil for any other text.
    public func open(_ text: String, mostBytes: Int) -> [UInt8]? {
        guard text.utf8.count <= mostBytes, let bytes = Base64.decodeURL(text) else { return nil }
        let nonce = Array(bytes.prefix(SealingKey.nonceBytes))
        return key.open(bytes.dropFirst(nonce.count), nonce: nonce, context: [])
    }

    private static func derived(_ use: String, from key: Secret) -> [UInt8] {
        MessageAuthentication.code(.sha256, of: Array(use.utf8), key: key)
    }
}
