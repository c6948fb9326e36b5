/// Standard Webhooks as an inbound scheme; also under the `svix-` header names, which carry the same values.
struct StandardScheme: SignatureScheme {
    private let verifier: StandardVerifier

    /// - Parameter secrets: `whsec_…` or `whpk_…`.
    init(_ secrets: [String], window: ReplayWindow) throws(SignatureSchemeError) {
        var keys: [StandardVerificationKey] = []
        for secret in secrets {
            do { keys.append(try StandardVerificationKey(secret)) } catch { throw .secretInvalid }
        }
        verifier = StandardVerifier(keys, window: window)
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        // All three of one family: mixing them would let one party's id stand beside another's signature.
        let family =
            message.header("webhook-signature") == nil && message.header("svix-signature") != nil ? "svix" : "webhook"
        let id = try message.required("\(family)-id")
        try verifier.verify(
            id: id, timestamp: message.required("\(family)-timestamp"),
            signature: message.required("\(family)-signature"), body: message.body, at: now)
        return .value(id)
    }
}
