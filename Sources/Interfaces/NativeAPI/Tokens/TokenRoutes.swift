import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    private static let tokenMembers = ["user", "scopes", "channels", "types", "expires_in_seconds"]

    /// `POST /v1/tokens`: creates a token for a user. Returns the token and its expiry with status 201.
    func postToken(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: Self.tokenMembers)
        let user = try fields.required("user", try fields.string("user"))
        try Names.check(user: user)
        let scopes = try requestedScopes(fields) ?? [.read]
        guard scopes.isSubset(of: UserToken.possible) else {
            throw fields.fault("scopes", "enum", "must be 'read', 'emit', or both; other scopes need an API key")
        }
        for word in Scopes.words where scopes.contains(word.scope) { try caller.require(word.scope) }
        // The expiry of a token is stated in whole seconds.
        let expires = service.clock.now.adding(try lifetime(fields)).secondsUp
        let channels = try fields.channelPatterns("channels", most: limits.streamChannels)
        let types = try fields.typePatterns("types", most: limits.streamChannels)
        let token = UserToken(
            user: user, scopes: scopes, channels: try Self.reached(channels, "channels", caller.channels),
            types: try Self.reached(types, "types", caller.types),
            expires: min(expires, caller.expires ?? .distantFuture))
        // Otherwise a revocation on another node, a moment ago, would revoke the new token too.
        try await service.catchUp()
        let text = try tokens.issue(token, by: caller)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("token", text)
            writer.member("expires_at", token.expires.timestamp)
            writer.endObject()
        }
        return .json(body.bytes, status: 201, headers: [Self.noStore])
    }

    private func lifetime(_ fields: Fields) throws(ChatError) -> Duration {
        let most = Int(UserTokens.longestLife.components.seconds)
        return try fields.integer("expires_in_seconds", in: 1...most).map { .seconds($0) } ?? UserTokens.usualLife
    }

    /// Returns the requested patterns unchanged; nil when the request contains no patterns.
    ///
    /// - Throws: an error for a pattern that the caller's own patterns do not cover.
    private static func reached(
        _ patterns: [NamePattern]?, _ name: String, _ own: [NamePattern]
    ) throws(ChatError) -> [NamePattern]? {
        for pattern in patterns ?? [] where !own.covers(pattern) {
            throw ChatError(.forbidden, "this credential has no access to \(name) '\(pattern)'")
        }
        return patterns
    }
}

extension Timetoken {
    fileprivate var secondsUp: Timetoken {
        let second = Self.ticksPerSecond
        return Timetoken((rawValue + second - 1) / second * second)
    }
}
