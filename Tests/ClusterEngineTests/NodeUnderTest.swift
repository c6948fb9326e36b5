import ChatModel

@testable import ClusterEngine

/// A node as an `Engine`, with a queue that refuses everything. The behaviours under test do not use the queue.
struct NodeUnderTest: Engine {
    let engine: ClusterEngine
    var log: any EventLog { engine.log }
    var directory: any Directory { engine.directory }
    var deliveries: any DeliveryQueue { NoDeliveries() }
    func health() async -> EngineHealth { await engine.health() }
    func close() async { await engine.close() }
}

private struct NoDeliveries: DeliveryQueue {
    private static let refusal = ChatError(.unavailable, "no deliveries")

    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int] { throw Self.refusal }
    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken { throw Self.refusal }
    func lease(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease] { [] }
    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] { [] }
    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        throw Self.refusal
    }
    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?] { throw Self.refusal }
    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] { throw Self.refusal }
    func release(_ leases: [Lease], after pause: Duration) async throws(ChatError) -> [Bool] { throw Self.refusal }
    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError) { throw Self.refusal }
    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async {}
    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery> { throw Self.refusal }
    func counts(_ queries: [DeliveryQuery], most: Int) async throws(ChatError) -> [Int] { throw Self.refusal }
    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])? {
        throw Self.refusal
    }
    func replay(_ selection: DeliverySelection, isDryRun: Bool) async throws(ChatError) -> Int { throw Self.refusal }
    func enqueue(_ items: [PlannedDelivery]) async throws(ChatError) -> (due: Int, processed: Int) {
        throw Self.refusal
    }
    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int {
        throw Self.refusal
    }
    func purge(_ ids: [String], in app: AppID) async throws(ChatError) -> Int { throw Self.refusal }
}
