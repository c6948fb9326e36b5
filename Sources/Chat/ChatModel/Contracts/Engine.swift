/// Everything the gateway asks of whatever remembers for it (`engine.md` part I).
///
/// `EngineConformance` is the executable meaning of these promises; every engine runs it.
public protocol Engine: Sendable {
    var log: any EventLog { get }
    var directory: any Directory { get }
    var deliveries: any DeliveryQueue { get }
    /// Ready only when an append would be durable. Degraded says which promise is slow or blocked.
    func health() async -> EngineHealth
    /// What it can say of itself in numbers. May take a while; to be asked now and then.
    func figures() async throws(ChatError) -> EngineStatistics
    /// Stops intake, finishes what was accepted, gives up leases. After it returns, nothing is written.
    func close() async
}

public enum EngineHealth: Sendable, Equatable {
    case ready
    /// Works, but slowly or in part; the sentence is for the operator.
    case degraded(String)
    case unavailable(String)
}

/// How much an engine holds. What it cannot tell is nil.
public struct EngineStatistics: Sendable {
    /// Deliveries that are not over, or dead, of all apps.
    public struct Queue: Sendable {
        public var count: Int
        /// The oldest event that is owed; nil when there is none.
        public var oldest: Timetoken?

        public init(count: Int, oldest: Timetoken?) {
            self.count = count
            self.oldest = oldest
        }
    }

    /// What the store takes on the disk, or in memory.
    public var bytes: Int?
    /// Of those, what is not yet where it belongs: SQLite's write-ahead log.
    public var walBytes: Int?
    /// The kept events at both ends of the log.
    public var oldestEvent: Timetoken?
    public var newestEvent: Timetoken?
    /// Events accepted and not yet committed.
    public var waitingEvents: Int?
    /// By what they wait for: `waiting` (an attempt), `held` (their webhook), `dead` (nothing).
    public var deliveries: [(state: String, queue: Queue)] = []

    public init() {}
}

extension Engine {
    /// For engines that say nothing of themselves.
    public func figures() async throws(ChatError) -> EngineStatistics { EngineStatistics() }
}
