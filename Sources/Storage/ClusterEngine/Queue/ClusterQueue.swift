import ChatModel
import StorageCore

/// The parts of a node's delivery queue.
struct ClusterQueue: Sendable {
    let node: QueueNode
    let deliveries: ClusterDeliveries

    init(
        node number: Int64, database: ClusterDatabase, bus: (any ClusterBus)?, memory: NodeMemory,
        settings: ClusterEngineSettings
    ) {
        let lanes = OwnedLanes(node: number)
        let writer = QueueWriter(database.settings, memory: memory, lanes: lanes, logger: settings.logger)
        let reads = QueueReads(pool: database.pool)
        let storage = ClusterQueueStorage(
            lanes: lanes, writer: writer, reads: reads, scheduler: settings.scheduler, uptime: settings.uptime)
        // The number of the node is part of every lease, so that leases of other nodes are void.
        let clock = memory.clock
        let scheduler = DeliveryScheduler(
            lanes: [], life: UInt64(number), clock: WallClock { clock.now }, storage: storage)
        lanes.setScheduler(scheduler)
        node = QueueNode(
            lanes: lanes, storage: storage, writer: writer,
            pool: ConnectionPool(database.settings, size: 1, logger: settings.logger), bus: bus, memory: memory,
            settings: settings)
        deliveries = ClusterDeliveries(
            node: node, scheduler: scheduler, writer: writer, reads: reads, memory: memory)
    }

    /// The tasks that run until the engine is closed.
    var work: [@Sendable () async -> Void] {
        [{ [node] in await node.keepLease() }, { [node] in await node.tick() }, { [node] in await node.followLanes() }]
    }

    /// Records the finished attempts, ends the waits, and gives up the lanes.
    func close() async { await node.close() }
}
