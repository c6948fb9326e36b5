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
        var query = RecordQuery(.revokedToken, in: space, limit: limits.pageMost)
        query.sort = [(.field("until"), true)]
        let oldest = try await directory.list(query).items
        let over = oldest.filter { record in
            guard let root = try? JSONDocument(record.body).root else { return true }
            return root["until"]?.string.flatMap { Timetoken(text: $0) } ?? .zero <= now
        }
        try await service.revokedTokens.write(
            over.map { RecordChange($0.key, body: nil) } + [RecordChange(revocation(of: token), body: body)])
    }

    /// Costs nothing while no token is taken back.
    public func isRevoked(token: String) -> Bool {
        !service.revokedTokens.isEmpty && service.revokedTokens.contains(revocation(of: token))
    }

    private func revocation(of token: String) -> RecordKey {
        RecordKey(.revokedToken, Hex.encode(sha256(Array(token.utf8))), in: space)
    }
}
