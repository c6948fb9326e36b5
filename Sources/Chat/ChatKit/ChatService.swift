public import ChatModel
public import JSON

/// The chat of one gateway process: what all apps share. Interfaces take a `Chat` from it per request.
public final class ChatService: Sendable {
    public let engine: any Engine
    public let limits: Limits
    public let clock: WallClock
    /// Where committed events meet their subscribers.
    public let hub: Hub
    /// Apps and API keys, readable without waiting.
    public let keyring: Keyring

    /// - Parameter executor: runs the hub; the streaming loop, so that fan-out needs no hop between threads.
    public init(
        engine: any Engine, limits: Limits = Limits(), clock: WallClock = .system, executor: any SerialExecutor
    ) {
        self.engine = engine
        self.limits = limits
        self.clock = clock
        hub = Hub(log: engine.log, executor: executor)
        keyring = Keyring(directory: engine.directory, clock: clock)
    }

    /// The app as `caller` may see it. Costs nothing.
    public func chat(for caller: Caller) -> Chat { Chat(service: self, caller: caller) }

    /// Loads the keys and starts the hub; returns when cancelled or when the engine closes.
    ///
    /// - Parameter whenReady: called once, when committed events reach subscribers.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let revision = try await keyring.load()
            group.addTask { await self.keyring.follow(from: revision) }
            try await hub.run(whenReady: whenReady)
            group.cancelAll()
        }
    }

    /// Tells the operators of an app that something happened to the gateway itself: an event on `$system`.
    public func report(_ type: String, data: JSONText, in space: SpaceID) async throws(ChatError) {
        let draft = EventDraft(
            channel: ChannelID(ChannelID.systemName, in: space), type: type, kind: .other, data: data)
        _ = try await engine.log.append([draft], claim: nil)
    }
}
