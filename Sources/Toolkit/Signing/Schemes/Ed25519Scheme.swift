/// An Ed25519 signature over a text around the body, as Discord makes it: `X-Signature-Ed25519: <hex>` over timestamp and
/// body, the timestamp being in `X-Signature-Timestamp`.
struct Ed25519Scheme: SignatureScheme {
    private let keys: [Ed25519PublicKey]
    private let signatureHeader: String
    private let timestampHeader: String
    private let encoding: HMACScheme.Encoding
    private let template: SignedTemplate
    private let identity: IdentityPlace
    private let window: ReplayWindow

    /// - Parameter keys: each 32 bytes in hex or base64, or `whpk_…`.
    init(_ keys: [String], _ settings: SchemeSettings) throws(SignatureSchemeError) {
        self.keys = try keys.map { text throws(SignatureSchemeError) in try Self.key(text) }
        signatureHeader = settings.header ?? "X-Signature-Ed25519"
        timestampHeader = settings.timestampHeader ?? "X-Signature-Timestamp"
        encoding = settings.encoding
        template =
            try settings.template.map { text throws(SignatureSchemeError) in try SignedTemplate(text) }
            ?? .timestampAndBody
        // Without the time in it, an old message could be sent again under a new one.
        guard template.signsTimestamp else { throw .templateInvalid }
        identity = IdentityPlace(header: settings.idHeader, pointer: settings.idPointer)
        window = settings.window
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let text = try message.required(signatureHeader)
        let timestamp = try message.required(timestampHeader)
        try window.check(timestamp, of: timestampHeader, at: now)
        guard let signature = encoding.decode(text[...]), signature.count == 64 else {
            throw .headerMalformed(signatureHeader)
        }
        let signed = try template.filled(message, id: identity.header(of: message), timestamp: timestamp)
        guard keys.contains(where: { $0.isValid(signature, for: signed) }) else { throw .mismatch }
        return identity.of(message)
    }

    private static func key(_ text: String) throws(SignatureSchemeError) -> Ed25519PublicKey {
        let digits = text.hasPrefix("whpk_") ? String(text.dropFirst("whpk_".count)) : text
        let bytes = text.utf8.count == 64 ? Hex.decode(text) : Base64.decode(digits)
        guard let key = bytes.flatMap(Ed25519PublicKey.init) else { throw .secretInvalid }
        return key
    }
}
