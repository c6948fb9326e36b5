import Signing

/// The result of a successful verification of a post.
struct SignatureProof {
    let identity: DeliveryIdentity
    /// The index of the secret that signed the post; nil when nothing is verified.
    let secretIndex: Int?

    /// Verifies a message.
    ///
    /// - Parameter verifiers: one for each secret, any of which may have signed. Without verifiers, every message is
    ///   accepted.
    /// - Throws: the rejection of the last verifier. Every rejection except a mismatch is the same for all secrets.
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
