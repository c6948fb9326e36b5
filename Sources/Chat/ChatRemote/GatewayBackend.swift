public import ChatKit
public import ChatModel
import JSON

/// A chat on a gateway, over its native API.
public struct GatewayBackend: ChatBackend {
    public let user: String
    let gateway: GatewayConnection
    let streams: StreamPool
    let device = Device.fresh()

    /// - Parameters:
    ///   - url: `http://host:port` or `https://host`, with a path when the gateway stands under one.
    ///   - key: an API key or a user's token, which is sent as it is.
    public init(url: String, key: String, user: String) throws(ChatError) {
        try Names.check(user: user)
        self.init(try GatewayConnection(url: url, Credential(key: key)), user: user)
    }

    /// - Parameters:
    ///   - url: as above.
    ///   - token: supplies a user's token; asked again before the last one ends and when the gateway refuses it.
    ///   - clock: by which the end of a token is judged.
    public init(
        url: String, user: String, clock: WallClock = .system, token: @escaping @Sendable () async throws -> String
    ) throws(ChatError) {
        try Names.check(user: user)
        self.init(try GatewayConnection(url: url, Credential(clock: clock, tokenSupplier: token)), user: user)
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

    /// A call in the name of the backend's user, to a route that takes no body.
    func by(_ path: RequestPath) -> RequestPath { path.adding("by", user) }

    /// A call in the name of the backend's user: its body says so where there is one.
    func call(_ method: String, _ path: RequestPath) -> Call {
        method == "DELETE" ? Call(method, by(path)) : Call(method, path, body: .object("by", user))
    }

    /// Members, and who acts.
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
