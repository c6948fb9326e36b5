public import ChatModel
import Locking
import Logging
import Postgres
import StorageCore

/// One node of a cluster: a storage engine whose data is in PostgreSQL, shared with other nodes.
///
/// PostgreSQL holds all data. A bus carries hints between the nodes, so that a node learns of the commits of the others
/// within milliseconds. Without the bus, nodes ask PostgreSQL regularly. Nodes are equal, and need not know each other.
public final class ClusterEngine: Engine {
    /// The event log.
    public let log: any EventLog
    /// The directory of records.
    public let directory: any Directory
    /// The delivery queue.
    public let deliveries: any DeliveryQueue
    /// The clock of timetokens, which follows the clock of PostgreSQL. All nodes have about the same time.
    public var clock: WallClock { WallClock { [clock = settings.clock] in clock.now } }
    /// The presence of users on all nodes, for `ChatService(engine:presence:)`. A node takes part from the first call on.
    public var presence: any PresenceStore { clusterPresence }
    private let clusterPresence: ClusterPresence
    let queue: ClusterQueue
    let store: any ClusterStore
    let bus: (any ClusterBus)?
    private let memory: NodeMemory
    let follower: Follower
    let writer: Writer
    private let handle: WriterHandle
    private let settings: ClusterEngineSettings
    private let tasks = Lock<[Task<Void, Never>]>([])
    private let writing: Task<Void, Never>
    private let phase = Lock(Phase.open)

    private enum Phase: Sendable { case open, closing, closed }

    /// The interval between two reads of the head, with and without hints of other nodes. A listener hears of an event
    /// of another node within this time even if its hint is lost.
    private static func pollInterval(_ bus: (any ClusterBus)?) -> Duration {
        if let bus, bus.problem == nil { .milliseconds(500) } else { .milliseconds(200) }
    }

    /// Opens a node: connects, creates or migrates the tables, and starts to follow the other nodes.
    ///
    /// - Parameters:
    ///   - url: the PostgreSQL server and the database, as a URI or as `key=value` pairs of libpq.
    ///   - bus: the NATS servers; nil for a cluster without a bus.
    /// - Throws: ``ClusterEngineFailure``.
    public convenience init(
        url: String, bus: BusSettings? = nil, settings: ClusterEngineSettings = ClusterEngineSettings()
    ) async throws(ClusterEngineFailure) {
        let deadline = settings.limits.storeDeadline
        let store = try await PostgresStore.open(
            ConnectionSettings(connectionInfo: url, applicationName: "parley", deadline: deadline),
            readers: settings.readers, schema: settings.schema, logger: settings.logger)
        var connection: NATSBus?
        if let bus {
            do throws(ClusterEngineFailure) {
                connection = try await NATSBus.open(
                    bus, installation: store.installation, deadline: deadline, logger: settings.logger)
            } catch {
                await store.close()
                throw error
            }
        }
        try await self.init(store: store, bus: connection, settings: settings)
    }

    /// Opens a node over a store.
    init(
        store: any ClusterStore, bus: (any ClusterBus)?, settings: ClusterEngineSettings
    ) async throws(ClusterEngineFailure) {
        let start: Head
        let retention: RetentionTable
        let node: Int64
        do throws(StoreFailure) {
            start = try await Self.begin(store, settings.clock)
            retention = RetentionTable(restored: try await store.restored())
            for (app, entry) in try await store.retentions() { retention.update(app) { $0 = entry } }
            for (name, position) in try await store.database.cursors() { retention.move(name, to: position) }
            node = try await store.database.register(
                lease: settings.nodeLease.duration, version: settings.schema.known)
        } catch {
            await bus?.close()
            await store.close()
            throw .store(error)
        }
        self.store = store
        self.bus = bus
        self.settings = settings
        memory = NodeMemory(settings: settings, start: start, retention: retention)
        follower = Follower(store: store, memory: memory, start: start, settings: settings)
        writer = Writer(store: store, memory: memory, follower: follower, bus: bus, settings: settings)
        handle = WriterHandle(queue: writer.queue, uptime: settings.uptime)
        log = ClusterLog(store: store, memory: memory, follower: follower, writer: handle)
        directory = ClusterDirectory(store: store, memory: memory, follower: follower, writer: handle)
        queue = ClusterQueue(node: node, database: store.database, bus: bus, memory: memory, settings: settings)
        deliveries = queue.deliveries
        clusterPresence = ClusterPresence(node: node, database: store.database, settings: settings) {
            [queue] () async throws(StoreFailure) in try await queue.node.renew()
        }
        writing = settings.scheduler.run { [writer] in await writer.run() }
        await startTasks()
    }

    /// Reads the head. In an empty log, first sets its timetoken to one tick before the current time, so that even the
    /// first position is a point in time.
    private static func begin(_ store: any ClusterStore, _ clock: ClusterClock) async throws(StoreFailure) -> Head {
        let sent = clock.localNow
        let transaction = try await store.begin()
        var head = transaction.head
        clock.follow(head.time, requestedAt: sent)
        guard head.timetoken == .zero else {
            await transaction.rollback()
            return head
        }
        head.timetoken = Timetoken(max(2, clock.now.rawValue) - 1)
        head.commit += 1
        do throws(StoreFailure) {
            try await transaction.commit(StoreChanges(head: head, now: head.timetoken))
        } catch {
            await transaction.rollback()
            throw error
        }
        return head
    }

    private func startTasks() async {
        let scheduler = settings.scheduler
        if let bus {
            let inbox = HintInbox()
            await bus.start {
                inbox.add($0)
            } lost: {
                inbox.miss()
            }
            repeatedly { [follower, queue] in
                while !Task.isCancelled {
                    switch await inbox.next() {
                    case .hint(let hint) where queue.node.receive(hint): break
                    case .hint(let hint):
                        if let frame = FrameCodec.decode(hint) {
                            await follower.receive(frame)
                        } else {
                            // A hint of another version. The follower has logged a failure of the store.
                            try? await follower.catchUp()
                        }
                    case .missed: try? await follower.catchUp()  // the follower has logged the failure
                    case nil: break
                    }
                }
            }
        }
        repeatedly { [follower, bus] in
            while !Task.isCancelled {
                try? await follower.catchUp()  // the follower has logged the failure; the next poll repeats
                await scheduler.sleep(Self.pollInterval(bus))
            }
        }
        for work in queue.work { repeatedly(work) }
        repeatedly { [handle, limits = settings.limits] in
            while !Task.isCancelled {
                await scheduler.sleep(.milliseconds(100))
                handle.expire(after: limits.storeDeadline)
            }
        }
        repeatedly { [self] in
            while !Task.isCancelled {
                await scheduler.sleep(settings.housekeepingInterval)
                guard !Task.isCancelled else { return }
                do throws(ChatError) {
                    try await removeOutlived()
                } catch {
                    settings.logger.warning(
                        "expired data cannot be removed", metadata: ["failure": "\(error.message)"])
                }
            }
        }
    }

    /// Runs a task until the engine is closed.
    private func repeatedly(_ body: @escaping @Sendable () async -> Void) {
        let task = settings.scheduler.run(body)
        tasks.withLock { $0.append(task) }
    }
}

extension ClusterEngine {
    private static let unreachable = "PostgreSQL cannot be reached, or does not respond in time"

    /// Returns the condition of the store. After a failure, first makes a test commit, because only a commit shows
    /// whether the store works again. Without hints of other nodes, the node is degraded.
    public func health() async -> EngineHealth {
        guard phase.withLock({ $0 == .open }) else { return .unavailable("the store is closed") }
        if await writer.failure != nil {
            do throws(ChatError) {
                try await handle.run { since, completion in
                    TransactionRequest(since: since, completion: completion) { $1.moveOn() }
                }
            } catch let latest {
                return .unavailable(latest.code == .storageFull ? latest.message : Self.unreachable)
            }
        }
        do throws(StoreFailure) {
            try await follower.catchUp()
        } catch {
            return .unavailable(Self.unreachable)
        }
        let waiting = writer.queue.waitingDrafts
        if waiting > settings.limits.waitingDrafts / 2 { return .degraded("\(waiting) events wait to be stored") }
        if let problem = bus?.problem {
            return .degraded("the bus does not work; events of other nodes arrive up to 0.2 s later: \(problem)")
        }
        return .ready
    }

    /// Removes expired data now instead of in the next scheduled round. Used by operators and tests.
    func removeOutlived() async throws(ChatError) {
        try await Housekeeping(memory: memory, writer: handle).removeOutlived()
        try await queue.deliveries.removeOutlived()
    }

    /// Completes all accepted requests, ends all consumers of the log and of record changes, and closes the connections.
    /// Later calls wait until all accepted requests are complete.
    public func close() async {
        let isFirst = phase.withLock { phase in
            defer { if phase == .open { phase = .closing } }
            return phase == .open
        }
        writer.queue.close()
        await writing.value
        guard isFirst else { return }
        for task in tasks.withLock({ $0 }) { task.cancel() }
        await clusterPresence.close()
        await queue.close()
        await follower.close()
        await bus?.close()
        await store.close()
        phase.withLock { $0 = .closed }
    }
}

/// The error when a node cannot be opened. The text is for the operator.
public struct ClusterEngineFailure: Error, Sendable, CustomStringConvertible {
    /// The category of a failure.
    public enum Reason: Sendable, Equatable {
        /// A newer program wrote the tables. `found` is their version, and `known` the newest version that this program
        /// knows.
        case newerSchema(found: Int, known: Int)
        /// The PostgreSQL server cannot be reached or starts, or another process changes the tables. A later attempt may
        /// succeed.
        case unavailable
        /// Any other reason, for instance missing permissions.
        case unusable
    }

    /// The category of the failure.
    public let reason: Reason
    /// One sentence that describes the problem and, if possible, its solution.
    public let description: String

    static func newerSchema(found: Int, known: Int) -> ClusterEngineFailure {
        ClusterEngineFailure(
            reason: .newerSchema(found: found, known: known),
            description:
                "the tables have version \(found), but this version of Parley supports at most \(known): start a newer version"
        )
    }

    static func olderNodes(_ nodes: OlderNodes, known: Int) -> ClusterEngineFailure {
        ClusterEngineFailure(
            reason: .unusable,
            description:
                "the tables still serve older nodes (\(nodes.text)), which cannot work with this change to version \(known): stop these nodes or upgrade them; a node that was killed counts for 12 seconds"
        )
    }

    static func bus(_ message: String) -> ClusterEngineFailure {
        ClusterEngineFailure(reason: .unusable, description: "the NATS bus cannot be used: \(message)")
    }

    static func store(_ message: String, _ reason: Reason = .unusable) -> ClusterEngineFailure {
        ClusterEngineFailure(reason: reason, description: "the PostgreSQL store cannot be used: \(message)")
    }

    static func store(_ failure: PostgresFailure) -> ClusterEngineFailure {
        store(failure.message, failure.isTemporary ? .unavailable : .unusable)
    }

    static func store(_ failure: StoreFailure) -> ClusterEngineFailure {
        switch failure {
        case .unavailable, .outcomeUnknown: store(failure.description, .unavailable)
        case .full, .rejected: store(failure.description)
        }
    }
}
