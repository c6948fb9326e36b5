/// HTTP Message Signatures (RFC 9421) over the method, the URL and the digest of the body (RFC 9530), with HMAC-SHA256
/// or Ed25519.
///
/// A signature is valid only if it covers the method, the URL and the digest, and contains its creation time. A
/// signature may also cover header fields without parameters and the parts of the URL.
struct MessageSignatureScheme: SignatureScheme {
    private enum Key: Sendable {
        case shared(Secret)
        case ed25519(Ed25519PublicKey)

        var algorithm: String {
            switch self {
            case .shared: "hmac-sha256"
            case .ed25519: "ed25519"
            }
        }
    }

    private static let required = ["@method", "@target-uri", "content-digest"]
    /// The maximum number of covered components of one signature. Each component requires a header lookup.
    private static let mostComponents = 32

    private let keys: [Key]
    private let identity: IdentityPlace
    private let window: ReplayWindow

    /// Creates the scheme with these keys.
    ///
    /// - Parameter secrets: the keys. `whpk_…` is a public key. `whsec_…` (bytes in base64) or any other text is a
    ///   shared key.
    init(_ secrets: [String], _ settings: SchemeSettings) throws(SignatureSchemeError) {
        keys = try secrets.map { text throws(SignatureSchemeError) in
            guard text.hasPrefix("whsec_") || text.hasPrefix("whpk_") else { return .shared(Secret(text: text)) }
            do throws(StandardKeyError) {
                switch try StandardVerificationKey(text) {
                case .symmetric(let secret): return .shared(secret)
                case .ed25519(let key): return .ed25519(key)
                }
            } catch { throw .secretInvalid }
        }
        identity = IdentityPlace(header: settings.idHeader, pointer: settings.idPointer)
        window = settings.window
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        try checkDigest(message)
        guard let inputs = StructuredField.dictionary(try message.required("Signature-Input")), !inputs.isEmpty else {
            throw .headerMalformed("Signature-Input")
        }
        guard let signatures = StructuredField.dictionary(try message.required("Signature")) else {
            throw .headerMalformed("Signature")
        }
        // One valid signature is sufficient, because a proxy may have added another signature. If no signature is
        // valid, the reason of the last rejection is reported.
        var reason = SignatureRejection.mismatch
        for input in inputs {
            guard case .bytes(let signature)? = signatures.first(where: { $0.key == input.key })?.value else {
                continue
            }
            do throws(SignatureRejection) {
                try check(input, signature, message, now)
                return identity.of(message)
            } catch { reason = error }
        }
        throw reason
    }

    private func check(
        _ input: StructuredField.Member, _ signature: [UInt8], _ message: SignedMessage, _ now: Int64
    ) throws(SignatureRejection) {
        guard case .names(let names) = input.value, names.count <= Self.mostComponents, Set(names).count == names.count,
            Self.required.allSatisfy(names.contains)
        else { throw .headerMalformed("Signature-Input") }
        try checkTime(input.parameters, now)
        let base = Array(try Self.base(names, parameters: input.text, of: message).utf8)
        for key in keys {
            if let algorithm = input.parameters["alg"], algorithm != .string(key.algorithm) { continue }
            switch key {
            case .shared(let secret):
                if constantTimeEqual(MessageAuthentication.code(.sha256, of: base, key: secret), signature) { return }
            case .ed25519(let key): if signature.count == 64, key.isValid(signature, for: base) { return }
            }
        }
        throw .mismatch
    }

    private func checkTime(
        _ parameters: [String: StructuredField.Parameter], _ now: Int64
    ) throws(SignatureRejection) {
        guard case .integer(let created)? = parameters["created"] else { throw .headerMalformed("Signature-Input") }
        try window.check(String(created), of: "Signature-Input", at: now)
        switch parameters["expires"] {
        case nil: break
        case .integer(let expires) where expires > now: break
        case .integer(let expires): throw .outsideWindow(ageSeconds: now - expires)
        case .string, .other: throw .headerMalformed("Signature-Input")
        }
    }

    /// Checks the digests of the body. At least one digest must use a supported algorithm, and all digests with a
    /// supported algorithm must match.
    private func checkDigest(_ message: SignedMessage) throws(SignatureRejection) {
        guard let digests = StructuredField.dictionary(try message.required("Content-Digest")) else {
            throw .headerMalformed("Content-Digest")
        }
        var isKnown = false
        for digest in digests {
            guard case .bytes(let bytes) = digest.value else { throw .headerMalformed("Content-Digest") }
            // SHA-256 and SHA-512 are supported. The other registered algorithms are not secure.
            guard digest.key == "sha-256" || digest.key == "sha-512" else { continue }
            let expected = digest.key == "sha-256" ? sha256(message.body) : sha512(message.body)
            guard constantTimeEqual(bytes, expected) else { throw .digestMismatch }
            isKnown = true
        }
        guard isKnown else { throw .headerMalformed("Content-Digest") }
    }

    /// Returns the text that is signed (RFC 9421, 2.5).
    static func base(
        _ names: [String], parameters: String, of message: SignedMessage
    ) throws(SignatureRejection) -> String {
        var base = ""
        for name in names { base += "\"\(name)\": \(try value(of: name, in: message))\n" }
        return base + "\"@signature-params\": \(parameters)"
    }

    private static func value(of name: String, in message: SignedMessage) throws(SignatureRejection) -> String {
        guard name.hasPrefix("@") else {
            // Names must be in lower case, so that each name has only one spelling.
            guard HeaderName.isValid(name), name == name.lowercased() else { throw .headerMalformed("Signature-Input") }
            return try message.required(name)
        }
        if name == "@method" { return message.method }
        let url = try message.requiredURL()
        if name == "@target-uri" { return url }
        guard let part = URLParts(url)?.component(name) else { throw .headerMalformed("Signature-Input") }
        return part
    }
}
