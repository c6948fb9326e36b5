import Signing

/// Text that the gateway gives out and knows again: `<base64url of the body>.<base64url of its HMAC-SHA256>`.
struct SignedText {
    /// Made part of what is signed, so that nothing else that is signed with the same secret can be shown in its place.
    let purpose: String
    /// Longer ones are not even looked at.
    let bytesMost: Int

    func seal(_ body: [UInt8], secret: Secret) -> String {
        let body = Base64.encodeURL(body)
        return body + "." + Base64.encodeURL(code(body, secret))
    }

    /// Reads a text; nil for anything but one of ours.
    ///
    /// - Parameters:
    ///   - read: makes a value of the body, which nobody has vouched for yet.
    ///   - secret: what must have signed it; nil when there is no such app.
    func open<Value>(_ text: String, read: ([UInt8]) -> Value?, secret: (Value) -> Secret?) -> Value? {
        guard text.utf8.count <= bytesMost else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let body = Base64.decodeURL(String(parts[0])),
            let given = Base64.decodeURL(String(parts[1])), let value = read(body), let secret = secret(value),
            constantTimeEqual(given, code(String(parts[0]), secret))
        else { return nil }
        return value
    }

    private func code(_ body: String, _ secret: Secret) -> [UInt8] {
        var code = MessageAuthentication(.sha256, key: secret)
        code.update(purpose)
        code.update(body)
        return code.finish()
    }
}
