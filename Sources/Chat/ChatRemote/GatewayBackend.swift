public import ChatKit
public import ChatModel
import GatewayClient
import JSON

/// A chat backend that uses a gateway over its native API.
public struct GatewayBackend: ChatBackend {
    public let user: String
    let gateway: GatewayConnection
    let streams: StreamPool
    let device = Device.fresh()

    /// Creates a backend with a key.
    ///
    /// - Parameters:
    ///   - url: the gateway's address, `http://host:port` or `https://host`, including the path of the gateway if it
    ///     has one.
    ///   - key: an API key or a user's token.
    ///   - retry: the delays and the limit of attempts when listeners reconnect.
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
    ///   - url: the gateway's address, `http://host:port` or `https://host`, including the path of the gateway if it
    ///     has one.
    ///   - token: returns a user's token. Called at the start, before the current token expires, and when the gateway
    ///     rejects the current token.
    ///   - clock: the clock for the expiry of tokens.
    ///   - retry: the delays and the limit of attempts when listeners reconnect.
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

    /// Returns the path with the backend's user in the query, as the acting user of a request without a body.
    func by(_ path: RequestPath) -> RequestPath { path.adding("by", user) }

    /// Returns a call on behalf of the backend's user. If the call has a body, the body names the user.
    func call(_ method: String, _ path: RequestPath) -> Call {
        method == "DELETE" ? Call(method, by(path)) : Call(method, path, body: .object("by", user))
    }

    /// Returns a body with the given members and the acting user.
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
    /// Creates a chat that uses a gateway.
    ///
    /// ```swift
    /// let chat = try await Chat(url: "https://chat.example.com", key: "parley_…", user: "ana")
    /// ```
    ///
    /// - Parameters:
    ///   - url: the gateway's address, such as `https://chat.example.com`.
    ///   - key: an API key of the app or a token of the user. It determines the app and the permissions. A stream
    ///     ticket is not accepted.
    ///   - retry: the delays and the limit of attempts when listeners reconnect.
    /// - Throws: `.malformed` for an invalid address or name.
    public convenience init(
        url: String, key: String, user: String, retry: RetryPolicy = .standard
    ) async throws(ChatError) {
        try await self.init(try GatewayBackend(url: url, key: key, user: user, retry: retry))
    }

    /// Creates a chat that uses a gateway, for a user whose tokens expire. The closure `token` supplies the tokens.
    ///
    /// ```swift
    /// let chat = try await Chat(
    ///     url: "https://chat.example.com", user: "ana", token: { try await session.chatToken() })
    /// ```
    ///
    /// - Parameters:
    ///   - url: the gateway's address, such as `https://chat.example.com`.
    ///   - user: the id of the user for whom the tokens are issued.
    ///   - retry: the delays and the limit of attempts when listeners reconnect.
    ///   - token: returns a token within 30 seconds. Called at the start, shortly before the current token expires, and
    ///     when the gateway rejects the current token; never concurrently. An error that `token` throws counts as
    ///     `.unavailable` and the call is repeated, unless the error is a `ChatError` with another code.
    /// - Throws: `.malformed` for an invalid address or name; the errors of `token` and of the gateway.
    public convenience init(
        url: String, user: String, retry: RetryPolicy = .standard,
        token: @escaping @Sendable () async throws -> String
    ) async throws(ChatError) {
        try await self.init(try GatewayBackend(url: url, user: user, retry: retry, token: token))
    }
}
