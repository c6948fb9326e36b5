public import ChatModel
import Locking

/// One of several nodes over one engine. Models a cluster in one process: the nodes have services of their own, and share
/// only the store.
public struct NodeEngine: Engine {
    /// The nodes that live.
    public final class Nodes: Sendable {
        private let numbers: Lock<Set<Int64>>

        public init(_ numbers: Set<Int64>) { self.numbers = Lock(numbers) }

        /// Adds a node that lives and answers nothing.
        public func add(_ number: Int64) { numbers.withLock { _ = $0.insert(number) } }

        /// Lets a node's lease end.
        public func end(_ number: Int64) { numbers.withLock { _ = $0.remove(number) } }

        var all: [Int64] { numbers.withLock { $0.sorted() } }
    }

    private let engine: any Engine
    private let nodes: Nodes
    public let node: Int64

    public init(_ engine: any Engine, node: Int64, of nodes: Nodes) {
        (self.engine, self.node, self.nodes) = (engine, node, nodes)
    }

    public var log: any EventLog { engine.log }
    public var directory: any Directory { SharedDirectory(real: engine.directory) }
    public var deliveries: any DeliveryQueue { engine.deliveries }
    public func otherNodes() async throws(ChatError) -> [Int64] { nodes.all.filter { $0 != node } }
    public func health() async -> EngineHealth { await engine.health() }
    public func close() async { await engine.close() }
}

/// The directory of an engine, which other nodes change too.
private struct SharedDirectory: Directory {
    let real: any Directory
    var isShared: Bool { true }

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] { try await real.read(keys) }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        try await real.write(changes, events: events)
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> { try await real.decide(keys, decide) }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> { try await real.list(query) }
    func changes(after revision: Revision) async -> RecordChangeSequence { await real.changes(after: revision) }
    func revision() async throws(ChatError) -> Revision { try await real.revision() }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { real.observe(body) }
}
