/// Verifies messages signed according to Standard Webhooks.
public struct StandardVerifier: Sendable {
    private let keys: [StandardVerificationKey]
    private let window: ReplayWindow

    /// The maximum number of signatures in one header that are checked. Each signature may require an Ed25519
    /// verification with every key.
    private static let tokenLimit = 16

    /// Creates a verifier with these keys.
    ///
    /// - Parameter keys: the keys. During a rotation, pass the current and the previous key. A signature with any of
    ///   them is valid.
    public init(_ keys: [StandardVerificationKey], window: ReplayWindow = .standard) {
        self.keys = keys
        self.window = window
    }

    /// Verifies a message. Returns without an error if at least one signature of the header is valid for one of the
    /// keys and the timestamp is within the window.
    ///
    /// Signatures of unknown versions and malformed signatures are ignored if another signature is valid.
    ///
    /// - Parameters:
    ///   - id: the value of `webhook-id`.
    ///   - timestamp: the received value of `webhook-timestamp`.
    ///   - signature: the value of `webhook-signature`.
    ///   - body: the bytes of the received body.
    ///   - now: the current time in Unix seconds.
    /// - Throws: ``SignatureRejection`` when the message is not authentic.
    public func verify(
        id: String, timestamp: String, signature: String, body: [UInt8], at now: Int64
    ) throws(SignatureRejection) {
        guard StandardMessageID.isValid(id) else { throw .headerMalformed("webhook-id") }
        try window.check(timestamp, of: "webhook-timestamp", at: now)
        let tokens = Self.tokens(of: signature)
        let head = "\(id).\(timestamp)."
        for key in keys where matches(tokens, key, head, body) { return }
        throw .mismatch
    }

    private func matches(
        _ tokens: [(version: Substring, signature: [UInt8])], _ key: StandardVerificationKey, _ head: String,
        _ body: [UInt8]
    ) -> Bool {
        switch key {
        case .symmetric(let secret):
            var code = MessageAuthentication(.sha256, key: secret)
            code.update(head)
            code.update(body)
            let expected = code.finish()
            return tokens.contains { $0.version == "v1" && constantTimeEqual($0.signature, expected) }
        case .ed25519(let key):
            let candidates = tokens.filter { $0.version == "v1a" && $0.signature.count == 64 }
            guard !candidates.isEmpty else { return false }
            let message = Array(head.utf8) + body
            return candidates.contains { key.isValid($0.signature, for: message) }
        }
    }

    private static func tokens(of header: String) -> [(version: Substring, signature: [UInt8])] {
        header.split(separator: " ").prefix(tokenLimit).compactMap { token in
            guard let comma = token.firstIndex(of: ","),
                let signature = Base64.decode(token[token.index(after: comma)...])
            else { return nil }
            return (token[..<comma], signature)
        }
    }
}
