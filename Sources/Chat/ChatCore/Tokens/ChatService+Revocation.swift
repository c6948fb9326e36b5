public import ChatModel

extension ChatService {
    /// Returns true when the caller's credential was revoked: together with all tokens of its user, or by a change of
    /// the secret that signed it. API keys are not checked here; the keyring checks them.
    public func isRevoked(_ caller: Caller) -> Bool {
        guard let proof = caller.proof else { return false }
        if let user = caller.user, isRevoked(user: UserID(user, in: caller.app), issued: proof.issued) { return true }
        guard let print = proof.secretPrint else { return false }
        let secrets = keyring.app(caller.app)?.secrets(at: clock.now) ?? []
        return !secrets.contains { AppRecord.print(ofSecret: $0.key) == print }
    }

    /// Returns true when a token of the user that was issued at this time is revoked.
    ///
    /// - Parameter issued: the time at which the token was issued; nil for a token without this time. Such a token is
    ///   revoked by any revocation of its user.
    public func isRevoked(user: UserID, issued: Timetoken?) -> Bool {
        guard let moment = revokedTokens.moment(of: user) else { return false }
        return issued.map { $0 < moment } ?? true
    }

    /// Returns the time of issue for a new token of the user: the current whole second. If a token issued at that
    /// second would be revoked, returns the first whole second at or after the user's time of revocation. The claim
    /// `iat` has a resolution of one second.
    public func nextIssue(for user: UserID) -> Timetoken {
        let now = clock.now
        let second = Timetoken.ticksPerSecond
        let floor = now.rawValue / second * second
        guard let moment = revokedTokens.moment(of: user), moment.rawValue > floor else { return Timetoken(floor) }
        return Timetoken((moment.rawValue + second - 1) / second * second)
    }

    /// Calls `body` with the app of each revocation, after it took effect. In `body`, check whether open connections
    /// use a revoked credential.
    public func observeRevocations(_ body: @escaping @Sendable (AppID) -> Void) { revokedTokens.observe(body) }
}
