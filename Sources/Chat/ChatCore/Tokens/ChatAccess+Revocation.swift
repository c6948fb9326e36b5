public import ChatModel
import JSON
import Signing

/// Tokens that hold no more, though their time is not over. Kept by their digests alone, and for as long as they would have
/// been good.
extension ChatAccess {
    /// Takes a token back. Once more is harmless.
    ///
    /// - Parameter until: when it would have ended.
    public func revoke(token: String, until: Timetoken) async throws(ChatError) {
        try caller.demand(.manage)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("until", until.description)
            writer.endObject()
        }
        let now = service.clock.now
        var query = RecordQuery(.revokedToken, in: app, limit: limits.pageMost)
        query.sort = [(.field("until"), true)]
        let oldest = try await directory.list(query).items
        let over = oldest.filter { record in
            guard let root = try? JSONDocument(record.body).root else { return true }
            return root["until"]?.string.flatMap { Timetoken(text: $0) } ?? .zero <= now
        }
        try await service.revokedTokens.write(
            over.map { RecordChange($0.key, body: nil) } + [RecordChange(revocation(of: token), body: body)])
    }

    /// Takes back every token that a user has: of the native API, stream tickets, and PubNub's access tokens of that user. What
    /// was opened with them is closed. Other users, and tokens that are made later, are not concerned.
    ///
    /// - Parameter before: tokens made before it hold no more; nil: all that there are. A moment that was given before is
    ///   never taken back.
    /// - Returns: the moment that counts.
    /// - Throws: `.malformed` for a moment in the future, `.forbidden` without `manage`, to a user's credential and to a narrowed key.
    public func revokeTokens(of user: String, before: Timetoken? = nil) async throws(ChatError) -> Timetoken {
        try caller.demand(.manage)
        try caller.demandNoUser()
        try caller.demandEveryChannel()
        try Names.check(user: user)
        if let before, before > service.clock.now {
            throw ChatError(.malformed, "before lies in the future; leave it out for now", field: "before")
        }
        let key = UserRevocation.key(UserID(user, in: app))
        let decided = try await decide([key]) { snapshot throws(ChatError) in
            let (moment, change) = revocation(of: user, before: before ?? snapshot.now, in: snapshot)
            return Decision(moment, changes: [change])
        }
        try await service.revokedTokens.refresh(key)
        return decided.value
    }

    /// The change that takes back the tokens a user has, beside others in one decision.
    func revocation(
        of user: String, before: Timetoken, in snapshot: RecordSnapshot
    ) -> (moment: Timetoken, change: RecordChange) {
        let key = UserRevocation.key(UserID(user, in: app))
        let moment = max(before, snapshot[key].flatMap(UserRevocation.init)?.before ?? .zero)
        return (moment, RecordChange(key, body: UserRevocation(before: moment).body))
    }

    /// Costs nothing while no token is taken back.
    public func isRevoked(token: String) -> Bool {
        !service.revokedTokens.isEmpty && service.revokedTokens.contains(revocation(of: token))
    }

    private func revocation(of token: String) -> RecordKey {
        RecordKey(.revokedToken, Hex.encode(sha256(Array(token.utf8))), in: app)
    }
}
