/// The storage of the gateway: everything that the gateway requires of a storage engine.
///
/// `EngineConformance` is the executable specification of these contracts; every engine runs it.
public protocol Engine: Sendable {
    /// The events of all apps.
    var log: any EventLog { get }
    /// The records of all apps.
    var directory: any Directory { get }
    /// The deliveries owed to webhooks and pull subscriptions.
    var deliveries: any DeliveryQueue { get }
    /// The state of the engine. Ready only when an append would be durable. A degraded state says which guarantee is
    /// slow or blocked.
    func health() async -> EngineHealth
    /// Statistics about the store. They may take a while to collect, so call this only occasionally.
    func statistics() async throws(ChatError) -> EngineStatistics
    /// Stops accepting work, finishes accepted work and gives up leases. Nothing is written after it returns.
    func close() async
}

/// The health of an engine.
public enum EngineHealth: Sendable, Equatable {
    case ready
    /// The engine works, but slowly or partly. The text is for the operator.
    case degraded(String)
    case unavailable(String)
}

/// The size of an engine's data. A value that the engine cannot determine is nil.
public struct EngineStatistics: Sendable {
    /// Unfinished or dead deliveries of all apps.
    public struct Queue: Sendable {
        /// The number of deliveries.
        public var count: Int
        /// The oldest event with such a delivery; nil when there is none.
        public var oldest: Timetoken?

        /// The number of deliveries in a state, and the oldest event among them.
        public init(count: Int, oldest: Timetoken?) {
            self.count = count
            self.oldest = oldest
        }
    }

    /// The size of the store on disk, or in memory, in bytes.
    public var bytes: Int?
    /// The part of `bytes` that is not yet in the main file: SQLite's write-ahead log.
    public var walBytes: Int?
    /// The oldest kept event; nil when there is none.
    public var oldestEvent: Timetoken?
    /// The newest kept event; nil when there is none.
    public var newestEvent: Timetoken?
    /// The number of events accepted and not yet committed.
    public var waitingEvents: Int?
    /// Deliveries by state: `waiting` (for an attempt), `held` (by a disabled webhook) and `dead`.
    public var deliveries: [(state: String, queue: Queue)] = []

    /// Statistics without any value.
    public init() {}
}

extension Engine {
    /// The default for engines without statistics.
    ///
    /// - Throws: nothing; an engine with statistics throws its store's error.
    public func statistics() async throws(ChatError) -> EngineStatistics { EngineStatistics() }
}
