import Signing

/// The result of a successful verification of a post.
struct SignatureProof {
    let identity: DeliveryIdentity
    /// The index of the secret that signed the post, from 0; nil when the source verifies nothing.
    let secretIndex: Int?

    /// Verifies the signature of a message.
    ///
    /// - Parameter verifiers: the verifiers of the source, one for each secret. One of the secrets must have signed the
    ///   message. Without verifiers, every message is accepted.
    /// - Throws: the rejection by the last verifier. The verifiers can only differ in whether the signature matches
    ///   their secret, so every other reason for a rejection is the same for all verifiers.
    init(_ message: SignedMessage, _ verifiers: [any SignatureScheme], at now: Int64) throws(SignatureRejection) {
        var rejection: SignatureRejection?
        for (index, verifier) in verifiers.enumerated() {
            do throws(SignatureRejection) {
                identity = try verifier.verify(message, at: now)
                secretIndex = index
                return
            } catch {
                rejection = error
            }
        }
        if let rejection { throw rejection }
        identity = .none
        secretIndex = nil
    }
}
