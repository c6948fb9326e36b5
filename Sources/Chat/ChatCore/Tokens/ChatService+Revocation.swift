public import ChatModel

extension ChatService {
    /// Whether what a caller has shown was taken back since: by its user's tokens, or by an exchange of the secret that has
    /// signed it. API keys are another matter: the key ring knows them.
    public func isRevoked(_ caller: Caller) -> Bool {
        guard let proof = caller.proof else { return false }
        if let user = caller.user, isRevoked(user: UserID(user, in: caller.app), issued: proof.issued) { return true }
        guard let print = proof.secretPrint else { return false }
        let secrets = keyring.app(caller.app)?.secrets(at: clock.now) ?? []
        return !secrets.contains { AppRecord.print(ofSecret: $0.key) == print }
    }

    /// Whether a token of the user that was made then was taken back.
    ///
    /// - Parameter issued: nil for a token that does not say when it was made: any revocation concerns it.
    public func isRevoked(user: UserID, issued: Timetoken?) -> Bool {
        guard let moment = revokedTokens.moment(of: user) else { return false }
        return issued.map { $0 < moment } ?? true
    }

    /// The first whole second in which a token of the user may be said to be made: `iat` counts seconds.
    public func nextIssue(for user: UserID) -> Timetoken {
        let now = clock.now
        let second = Timetoken.ticksPerSecond
        let floor = now.rawValue / second * second
        guard let moment = revokedTokens.moment(of: user), moment.rawValue > floor else { return Timetoken(floor) }
        return Timetoken((moment.rawValue + second - 1) / second * second)
    }

    /// Calls `body` with the app of whatever is taken back, after it counts: what was opened with it is to be looked at again.
    public func observeRevocations(_ body: @escaping @Sendable (AppID) -> Void) { revokedTokens.observe(body) }
}
