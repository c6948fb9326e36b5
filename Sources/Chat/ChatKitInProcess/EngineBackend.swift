import ChatCore
public import ChatKit
public import ChatModel

/// A chat in this process, on an engine of its own: no gateway, no network.
public struct EngineBackend: ChatBackend {
    public let user: String
    let host: ChatHost
    let app: AppID
    let device = Device.fresh()

    /// Runs the chat on an engine, which belongs to it from now on: ``close()`` closes it.
    ///
    /// - Parameter app: the app whose chat it is; made when it is not there.
    public init(
        _ engine: any Engine, app: String, user: String, limits: Limits = Limits(), clock: WallClock = .system
    ) async throws(ChatError) {
        try Names.check(user: user)
        self.user = user
        self.app = AppID(app)
        host = try await ChatHost(engine, app: self.app, limits: limits, clock: clock)
    }

    private init(_ other: EngineBackend, user: String) {
        self.user = user
        app = other.app
        host = other.host
    }

    public func acting(as user: String) -> any ChatBackend { EngineBackend(self, user: user) }

    public func close() async { await host.close() }

    /// Whoever embeds the chat may do everything in it; the user is named in each verb.
    var access: ChatAccess {
        host.service.chat(for: Caller(app: app, credential: "chatkit", scopes: [.admin]), device: device)
    }
}
