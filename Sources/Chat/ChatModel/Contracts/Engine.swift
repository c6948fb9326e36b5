/// The storage of the gateway.
///
/// The test suite `EngineConformance` is the executable specification of this protocol and the protocols of its
/// properties. Every engine must pass it.
public protocol Engine: Sendable {
    /// The events of all apps.
    var log: any EventLog { get }
    /// The records of all apps.
    var directory: any Directory { get }
    /// The deliveries to webhooks and pull subscriptions.
    var deliveries: any DeliveryQueue { get }
    /// The state of the engine. The state is `ready` only when an append would be durable.
    func health() async -> EngineHealth
    /// Statistics about the store. Collecting them may take seconds, so do not call this method often.
    func statistics() async throws(ChatError) -> EngineStatistics
    /// Stops accepting work, finishes accepted work and gives back leases. The engine writes nothing after `close`
    /// returns.
    func close() async
}

/// The health of an engine.
public enum EngineHealth: Sendable, Equatable {
    case ready
    /// The engine works, but slowly or in part. The text tells the operator which guarantee is affected.
    case degraded(String)
    case unavailable(String)
}

/// The size of an engine's data. A value that the engine cannot determine is nil.
public struct EngineStatistics: Sendable {
    /// Unfinished or dead deliveries of all apps.
    public struct Queue: Sendable {
        /// The number of deliveries.
        public var count: Int
        /// The timetoken of the oldest event among the counted deliveries; nil when `count` is zero.
        public var oldest: Timetoken?

        /// Creates statistics of the deliveries in a state: their number, and the oldest event among them.
        public init(count: Int, oldest: Timetoken?) {
            self.count = count
            self.oldest = oldest
        }
    }

    /// The size of the store on disk, or in memory, in bytes.
    public var bytes: Int?
    /// The size of SQLite's write-ahead log in bytes, a part of `bytes`.
    public var walBytes: Int?
    /// The timetoken of the oldest durable event; nil when there is none.
    public var oldestEvent: Timetoken?
    /// The timetoken of the newest durable event; nil when there is none.
    public var newestEvent: Timetoken?
    /// The number of accepted events that are not yet committed.
    public var waitingEvents: Int?
    /// Unfinished and dead deliveries by state: `waiting` (for an attempt), `held` (their webhook is disabled) and
    /// `dead`.
    public var deliveries: [(state: String, queue: Queue)] = []

    /// Creates statistics in which every value is nil.
    public init() {}
}

extension Engine {
    /// The default implementation, for engines without statistics. Every value is nil.
    ///
    /// - Throws: nothing. An engine's own implementation throws the store's error.
    public func statistics() async throws(ChatError) -> EngineStatistics { EngineStatistics() }
}
