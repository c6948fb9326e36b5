/// A secret that is sent along as it is, in a header: no signature at all.
///
/// Many senders have nothing better. It shows that the sender knows the secret, and nothing of the body or the time:
/// whoever once sees a request can make any other. Only over TLS, and only where the sender offers no signature.
struct TokenScheme: SignatureScheme {
    private let header: String
    private let prefix: String
    private let identity: IdentityPlace
    /// Of the tokens: digests have one length, so that comparing does not tell that of the token.
    private let digests: [[UInt8]]

    init(_ secrets: [Secret], _ settings: SchemeSettings) throws(SignatureSchemeError) {
        guard let header = settings.header else { throw .settingMissing(.header) }
        self.header = header
        prefix = settings.prefix ?? ""
        identity = IdentityPlace(header: settings.idHeader, pointer: settings.idPointer)
        digests = secrets.map { sha256($0.bytes) }
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let value = try message.required(header)
        guard value.hasPrefix(prefix) else { throw .headerMalformed(header) }
        let digest = sha256(Array(value.dropFirst(prefix.count).utf8))
        guard digests.contains(where: { constantTimeEqual($0, digest) }) else { throw .mismatch }
        return identity.of(message)
    }
}
