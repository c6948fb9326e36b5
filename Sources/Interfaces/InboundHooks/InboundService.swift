public import ChatCore
public import Logging

/// Inbound hooks: posts of other services become events (`layout.md`, walk 1).
public final class InboundService: Sendable {
    /// Administration of sources.
    public let registry: SourceRegistry
    /// The way in.
    public let gate: PostReceiver

    public init(service: ChatService, logger: Logger) {
        registry = SourceRegistry(service: service, logger: logger)
        gate = PostReceiver(registry: registry, logger: logger)
    }

    /// Loads the sources and follows their changes until cancelled or until the engine closes. The chat service must be
    /// running (its keyring loaded).
    /// - Parameter whenReady: called once, when every source is known.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        let revision = try await registry.load()
        whenReady()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.registry.keeper.run() }
            await registry.follow(from: revision)
            group.cancelAll()
        }
    }
}
