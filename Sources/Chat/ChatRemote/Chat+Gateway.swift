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
    ///   - key: an API key of the app, or a ticket of the user; it decides which app it is and what may be done.
    /// - Throws: `.malformed` for an address or name that cannot be one.
    public convenience init(url: String, key: String, user: String) async throws(ChatError) {
        try await self.init(try GatewayBackend(url: url, key: key, user: user))
    }
}
