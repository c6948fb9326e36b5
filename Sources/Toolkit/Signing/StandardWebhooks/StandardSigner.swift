/// The reason why a message could not be signed.
public enum StandardSigningError: Error, Sendable, Equatable {
    /// There is no key.
    case noKeys
    /// The id is empty, or contains a dot or a character outside U+0021..U+007E. With a dot, the end of the id in the
    /// signed text would be ambiguous.
    case invalidID
    /// The time is before 1970.
    case invalidTimestamp
    /// libcrypto could not create the signature.
    case failed
}

/// Signs messages according to Standard Webhooks. The signed text is `id.timestamp.body`. One header contains the
/// signatures of all active keys.
///
/// During a rotation, the new and the previous key sign, so that a receiver can change its key at any time. Source:
/// Standard Webhooks 1.0, "Webhook signatures".
public struct StandardSigner: Sendable {
    private let keys: [Key]

    private enum Key: Sendable {
        case symmetric(HMAC<SHA256State>)
        case ed25519(Ed25519PrivateKey)
    }

    /// Creates a signer with these keys.
    ///
    /// - Parameter keys: the keys, in the order of their signatures in the header, the current key first.
    public init(_ keys: [StandardSigningKey]) {
        self.keys = keys.map { key in
            switch key {
            case .symmetric(let secret): .symmetric(HMAC(key: secret.bytes))
            case .ed25519(let key): .ed25519(key)
            }
        }
    }

    /// Returns the value of `webhook-signature`.
    ///
    /// - Parameters:
    ///   - id: the value of `webhook-id`. It must be the same for all attempts.
    ///   - timestamp: the value of `webhook-timestamp`: the time of this attempt, not of the event, in Unix seconds.
    ///   - body: the exact bytes that are sent.
    /// - Throws: ``StandardSigningError`` when there is no key, the id or the timestamp is not valid, or libcrypto
    ///   fails.
    public func signature(
        id: String, timestamp: Int64, body: [UInt8]
    ) throws(StandardSigningError) -> String {
        guard !keys.isEmpty else { throw .noKeys }
        guard StandardMessageID.isValid(id) else { throw .invalidID }
        guard timestamp >= 0 else { throw .invalidTimestamp }
        let head = Array("\(id).\(timestamp).".utf8)
        var header = ""
        for key in keys {
            if !header.isEmpty { header += " " }
            header += try token(key, head, body)
        }
        return header
    }

    private func token(_ key: Key, _ head: [UInt8], _ body: [UInt8]) throws(StandardSigningError) -> String {
        switch key {
        case .symmetric(let keyed):
            var code = keyed
            code.update(head)
            code.update(body)
            return "v1," + Base64.encode(code.finish())
        case .ed25519(let key):
            return "v1a," + Base64.encode(try key.signature(of: head + body))
        }
    }
}

enum StandardMessageID {
    static func isValid(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ".") }
    }
}
