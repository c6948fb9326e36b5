public import ChatModel
import JSON
import Signing
import Text

/// Revokes tokens before they expire. The digests of revoked tokens are stored until the tokens would have expired.
extension ChatAccess {
    /// Revokes a token. Repeating the call has no further effect.
    ///
    /// - Parameter until: the time at which the token expires.
    /// - Throws: `.forbidden` without the scope `manage`; the errors of the store.
    public func revoke(token: String, until: Timetoken) async throws(ChatError) {
        try caller.require(.manage)
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

    /// Revokes all tokens of a user: tokens of the native API, stream tickets, and the user's PubNub access tokens.
    /// Connections that were opened with them are closed. Tokens that are issued later stay valid.
    ///
    /// - Parameter before: tokens issued before this time are revoked; nil for the current time. If an earlier call had
    ///   a later time, that time remains in force.
    /// - Returns: the time that is in force.
    /// - Throws: `.malformed` for a bad name or a time in the future; `.forbidden` without the scope `manage`, for a
    ///   user's credential, and for a key that is restricted to some channels.
    public func revokeTokens(of user: String, before: Timetoken? = nil) async throws(ChatError) -> Timetoken {
        try caller.require(.manage)
        try caller.demandNoUser()
        try caller.demandEveryChannel()
        try Names.check(user: user)
        if let before, before > service.clock.now {
            throw ChatError(
                .malformed, "'before' must not be in the future; leave 'before' out to use the current time",
                field: "before")
        }
        let key = UserRevocation.key(UserID(user, in: app))
        let decided = try await decide([key]) { snapshot throws(ChatError) in
            let (moment, change) = revocation(of: user, before: before ?? snapshot.now, in: snapshot)
            return Decision(moment, changes: [change])
        }
        try await service.revokedTokens.refresh(key)
        return decided.value
    }

    /// Returns the change that revokes a user's tokens, and the time that is in force. Used in a decision that also
    /// makes other changes.
    func revocation(
        of user: String, before: Timetoken, in snapshot: RecordSnapshot
    ) -> (moment: Timetoken, change: RecordChange) {
        let key = UserRevocation.key(UserID(user, in: app))
        let moment = max(before, snapshot[key].flatMap(UserRevocation.init)?.before ?? .zero)
        return (moment, RecordChange(key, body: UserRevocation(before: moment).body))
    }

    /// Returns true when the token was revoked. Reads only memory.
    public func isRevoked(token: String) -> Bool {
        !service.revokedTokens.isEmpty && service.revokedTokens.contains(revocation(of: token))
    }

    private func revocation(of token: String) -> RecordKey {
        RecordKey(.revokedToken, Hex.encode(sha256(Array(token.utf8))), in: app)
    }
}
