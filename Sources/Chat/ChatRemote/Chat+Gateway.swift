public import ChatKit
public import ChatModel

extension Chat {
    /// The chat of a gateway.
    ///
    /// ```swift
    /// let chat = try await Chat(url: "https://chat.example.com", key: "parley_…", user: "ana")
    /// ```
    ///
    /// - Parameters:
    ///   - url: the gateway's address, as in a browser.
    ///   - key: an API key of the app, or a token of the user; it decides which app it is and what may be done. A stream
    ///     ticket is neither.
    /// - Throws: `.malformed` for an address or name that cannot be one.
    public convenience init(url: String, key: String, user: String) async throws(ChatError) {
        try await self.init(try GatewayBackend(url: url, key: key, user: user))
    }

    /// The chat of a gateway for a user with tokens, which end: the function supplies the first one and each that follows.
    ///
    /// ```swift
    /// let chat = try await Chat(url: "https://chat.example.com", user: "ana", token: { try await session.chatToken() })
    /// ```
    ///
    /// - Parameters:
    ///   - url: the gateway's address, as in a browser.
    ///   - user: the user whom the tokens name.
    ///   - token: asked for a token at the beginning, shortly before the last one ends, and when the gateway refuses it; by
    ///     one caller at a time, within 30 seconds. An error that it throws counts as `.unavailable` and is tried again, unless it
    ///     is a `ChatError` that says otherwise.
    /// - Throws: `.malformed` for an address or name that cannot be one; what the function and the gateway say.
    public convenience init(
        url: String, user: String, token: @escaping @Sendable () async throws -> String
    ) async throws(ChatError) {
        try await self.init(try GatewayBackend(url: url, user: user, token: token))
    }
}
