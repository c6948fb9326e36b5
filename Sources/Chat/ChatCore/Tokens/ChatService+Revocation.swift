public import ChatModel

extension ChatService {
    /// True when the caller's credential was revoked: with its user's tokens, or by a change of the secret that signed
    /// it. Does not cover API keys, which the keyring checks.
    public func isRevoked(_ caller: Caller) -> Bool {
        guard let proof = caller.proof else { return false }
        if let user = caller.user, isRevoked(user: UserID(user, in: caller.app), issued: proof.issued) { return true }
        guard let print = proof.secretPrint else { return false }
        let secrets = keyring.app(caller.app)?.secrets(at: clock.now) ?? []
        return !secrets.contains { AppRecord.print(ofSecret: $0.key) == print }
    }

    /// True when a token of the user with that time of issue was revoked.
    ///
    /// - Parameter issued: nil for a token without a time of issue, to which any revocation applies.
    public func isRevoked(user: UserID, issued: Timetoken?) -> Bool {
        guard let moment = revokedTokens.moment(of: user) else { return false }
        return issued.map { $0 < moment } ?? true
    }

    /// The first whole second that a new token of the user may have as its time of issue, because `iat` is in seconds.
    public func nextIssue(for user: UserID) -> Timetoken {
        let now = clock.now
        let second = Timetoken.ticksPerSecond
        let floor = now.rawValue / second * second
        guard let moment = revokedTokens.moment(of: user), moment.rawValue > floor else { return Timetoken(floor) }
        return Timetoken((moment.rawValue + second - 1) / second * second)
    }

    /// Calls `body` with the app of each revocation, after it takes effect. Connections opened with revoked credentials
    /// must then be checked again.
    public func observeRevocations(_ body: @escaping @Sendable (AppID) -> Void) { revokedTokens.observe(body) }
}
