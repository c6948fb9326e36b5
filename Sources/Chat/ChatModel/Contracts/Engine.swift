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
    /// The number of this node among the nodes that share the store. No other node has it, and no node gets it again after
    /// a restart. Zero for a store that only one process can open.
    var node: Int64 { get }
    /// The numbers of the other nodes that live. A node that has stopped without notice is listed until its lease ends.
    func otherNodes() async throws(ChatError) -> [Int64]
    /// The state of the engine. The state is `ready` only when an append would be durable.
    func health() async -> EngineHealth
    /// Statistics about the store. Collecting them may take seconds, so do not call this method often.
    func statistics() async throws(ChatError) -> EngineStatistics
    /// The measurements of this node of a cluster; nil for an engine that is not part of a cluster. Reads no storage.
    func nodeStatistics() async -> NodeStatistics?
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
    /// The default implementation, for a store that only one process can open.
    public var node: Int64 { 0 }

    /// The default implementation, for a store that only one process can open. There are no other nodes.
    ///
    /// - Throws: nothing. An engine's own implementation throws the store's error.
    public func otherNodes() async throws(ChatError) -> [Int64] { [] }

    /// The default implementation, for engines without statistics. Every value is nil.
    ///
    /// - Throws: nothing. An engine's own implementation throws the store's error.
    public func statistics() async throws(ChatError) -> EngineStatistics { EngineStatistics() }
}

/// The measurements of one node of a cluster. The counts begin at zero when the node starts.
public struct NodeStatistics: Sendable {
    /// Calls, and the sum of their durations.
    public struct Timing: Sendable, Equatable {
        /// The number of calls.
        public var count: UInt64 = 0
        /// The sum of the durations of the calls.
        public var duration: Duration = .zero

        /// Creates a timing without calls.
        public init() {}

        /// Adds one call.
        public mutating func add(_ duration: Duration) {
            count += 1
            self.duration += duration
        }
    }

    /// The commits of this node's writer. Their duration begins when the writer asks for the lane, which one node has at
    /// a time.
    public var commits = Timing()
    /// The writes that were committed, from the call until the response. Several writes share one commit.
    public var writes = Timing()
    /// The commits that failed.
    public var failedCommits: UInt64 = 0
    /// The reads of the store that were needed because messages of other nodes were missing.
    public var gapReads: UInt64 = 0
    /// The time since this node has last read the newest position of the log. It is the longest time by which this node
    /// may lag behind the others.
    public var headAge: Duration = .zero
    /// The time for which this node's lease still lasts; zero when it has ended.
    public var leaseLeft: Duration = .zero
    /// The number of webhooks and subscriptions whose deliveries this node sends.
    public var lanes = 0
    /// True when messages of other nodes can arrive; nil for a cluster without a bus.
    public var isBusConnected: Bool?

    /// Creates statistics of a node that has done nothing.
    public init() {}
}

extension Engine {
    /// Returns nil: the engine is not part of a cluster.
    public func nodeStatistics() async -> NodeStatistics? { nil }
}
