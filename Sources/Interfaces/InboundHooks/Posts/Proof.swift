import Signing

/// That a post is its sender's.
struct SignatureProof {
    let identity: DeliveryIdentity
    /// Which secret it was signed with; nil where nothing is checked.
    let secretIndex: Int?

    /// - Parameter verifiers: one for each secret, any of which may have signed; without any, everything is taken.
    /// - Throws: why not, in the words of the last secret: all but a mismatch is the same for each.
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
