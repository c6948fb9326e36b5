public import ChatKit
public import ChatModel
import GatewayClient
import JSON

/// A chat backend on a gateway, over its native API.
public struct GatewayBackend: ChatBackend {
    public let user: String
    let gateway: GatewayConnection
    let streams: StreamPool
    let device = Device.fresh()

    /// Creates a backend with a key.
    ///
    /// - Parameters:
    ///   - url: `http://host:port` or `https://host`, with a path when the gateway is served under one.
    ///   - key: an API key or a user's token, which is sent as it is.
    ///   - retry: the rule by which listeners reconnect.
    /// - Throws: `.malformed` for an invalid address or name; `.unavailable` when the HTTP client cannot start.
    public init(
        url: String, key: String, user: String, retry: RetryPolicy = .standard
    ) throws(ChatError) {
        try Names.check(user: user)
        self.init(try GatewayConnection(url: url, Credential(key: key), retry: retry), user: user)
    }

    /// Creates a backend with tokens.
    ///
    /// - Parameters:
    ///   - url: as above.
    ///   - token: supplies a user's token. It is called again before the last token expires and when the gateway
    ///     rejects it.
    ///   - clock: the clock for the expiry of tokens.
    ///   - retry: the rule by which listeners reconnect.
    /// - Throws: `.malformed` for an invalid address or name; `.unavailable` when the HTTP client cannot start.
    public init(
        url: String, user: String, clock: WallClock = .system, retry: RetryPolicy = .standard,
        token: @escaping @Sendable () async throws -> String
    ) throws(ChatError) {
        try Names.check(user: user)
        let credential = Credential(clock: clock, tokenSupplier: token)
        self.init(try GatewayConnection(url: url, credential, retry: retry), user: user)
    }

    private init(_ gateway: GatewayConnection, user: String) {
        self.gateway = gateway
        self.user = user
        streams = StreamPool(gateway, user: user, device: device)
    }

    public func acting(as user: String) -> any ChatBackend { GatewayBackend(gateway, user: user) }

    public func close() async { await gateway.close() }

    func send(_ call: Call) async throws(ChatError) -> GatewayResponse {
        var call = call
        call.device = device
        return try await gateway.send(call)
    }

    /// Returns the path with the backend's user as the actor, for a route that takes no body.
    func by(_ path: RequestPath) -> RequestPath { path.adding("by", user) }

    /// Returns a call for the backend's user. When the call has a body, the body names the actor.
    func call(_ method: String, _ path: RequestPath) -> Call {
        method == "DELETE" ? Call(method, by(path)) : Call(method, path, body: .object("by", user))
    }

    /// Returns a body with the given members and the actor.
    func body(_ print: (inout JSONWriter) -> Void) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            print(&writer)
            writer.member("by", user)
            writer.endObject()
        }
    }
}

extension Chat {
    /// Creates a chat on a gateway.
    ///
    /// ```swift
    /// let chat = try await Chat(url: "https://chat.example.com", key: "parley_…", user: "ana")
    /// ```
    ///
    /// - Parameters:
    ///   - url: the gateway's address, as in a browser.
    ///   - key: an API key of the app or a token of the user. It determines the app and the permissions. A stream
    ///     ticket is not accepted.
    ///   - retry: the rule by which listeners reconnect.
    /// - Throws: `.malformed` for an invalid address or name.
    public convenience init(
        url: String, key: String, user: String, retry: RetryPolicy = .standard
    ) async throws(ChatError) {
        try await self.init(try GatewayBackend(url: url, key: key, user: user, retry: retry))
    }

    /// Creates a chat on a gateway for a user with expiring tokens. The function supplies the first token and each
    /// later one.
    ///
    /// ```swift
    /// let chat = try await Chat(
    ///     url: "https://chat.example.com", user: "ana", token: { try await session.chatToken() })
    /// ```
    ///
    /// - Parameters:
    ///   - url: the gateway's address, as in a browser.
    ///   - user: the user whom the tokens name.
    ///   - retry: the rule by which listeners reconnect.
    ///   - token: returns a token. It is called at the beginning, shortly before the last token expires, and when the
    ///     gateway rejects it; by one caller at a time, within 30 seconds. An error that it throws counts as
    ///     `.unavailable` and is retried, unless it is a `ChatError` with another code.
    /// - Throws: `.malformed` for an invalid address or name; the errors of the function and the gateway.
    public convenience init(
        url: String, user: String, retry: RetryPolicy = .standard,
        token: @escaping @Sendable () async throws -> String
    ) async throws(ChatError) {
        try await self.init(try GatewayBackend(url: url, user: user, retry: retry, token: token))
    }
}
