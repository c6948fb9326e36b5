/// Stripe: `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=…]` over `<t>.<body>`, the key being the whole secret string.
///
/// Several `v1` are alternatives, which is how Stripe rotates; other versions are ignored.
struct StripeScheme: SignatureScheme {
    private static let header = "Stripe-Signature"
    private let secrets: [Secret]
    private let window: ReplayWindow

    init(_ secrets: [Secret], window: ReplayWindow) {
        self.secrets = secrets
        self.window = window
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let header = try message.required(Self.header)
        var timestamp: String?
        var signatures: [[UInt8]] = []
        for part in header.split(separator: ",") {
            let item = part.trimmingBlanks()
            if item.hasPrefix("t=") {
                // A second one would leave open which is signed.
                guard timestamp == nil else { throw .headerMalformed(Self.header) }
                timestamp = String(item.dropFirst(2))
            } else if item.hasPrefix("v1="), let signature = Hex.decode(item.dropFirst(3)) {
                signatures.append(signature)
            }
        }
        guard let timestamp, !signatures.isEmpty else { throw .headerMalformed(Self.header) }
        try window.check(timestamp, of: Self.header, at: now)
        for secret in secrets {
            var code = MessageAuthentication(.sha256, key: secret)
            code.update("\(timestamp).")
            code.update(message.body)
            let expected = code.finish()
            if signatures.contains(where: { constantTimeEqual($0, expected) }) { return .bodyPointer("/id") }
        }
        throw .mismatch
    }
}
