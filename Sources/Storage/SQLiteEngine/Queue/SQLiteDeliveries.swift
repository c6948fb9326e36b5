import ChatModel
import SQLite

/// The delivery queue of one file (`DeliveryQueue`).
struct SQLiteDeliveries: DeliveryQueue {
    let memory: Memory
    let board: Board
    let readers: Readers
    let writing: Writing

    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) {
        try await writing.run { [board] (writer) throws(SQLiteFailure) in
            try writer.plan(items, cursor: cursor, from: from, to: to, board: board)
        }
    }

    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken { memory.retention.cursor(name) }

    func take(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        let grants = try await board.take(Board.Demand(limit: limit, capacity: capacity), within: wait)
        guard grants.contains(where: { $0.planned == nil }) else { return grants.compactMap(\.leaseOfPlanned) }
        let facts: [DeliveryKey: Lease]
        do throws(ChatError) {
            facts = try await readers.run { (reader) throws(SQLiteFailure) in try reader.leases(grants) }
        } catch {
            for grant in grants { board.giveBack(grant, isGone: false) }
            throw error
        }
        var leases: [Lease] = []
        for grant in grants {
            if let lease = grant.leaseOfPlanned ?? facts[grant.key] {
                leases.append(lease)
            } else {
                board.giveBack(grant, isGone: true)
            }
        }
        return leases
    }

    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        let keys = board.beginFinish(attempts)
        guard keys.contains(where: { $0 != nil }) else { return keys.map { _ in false } }
        do throws(ChatError) {
            let result = await withUnsafeContinuation { continuation in
                board.record(FinishedAttempts(attempts: attempts, keys: keys, promise: Promise(continuation)))
            }
            return try result.get()
        } catch {
            board.abandonFinish(keys)
            throw error
        }
    }

    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] {
        leases.map { lease in key(of: lease).map { board.renew($0, fence: lease.fence, for: duration) } ?? false }
    }

    private func key(of lease: Lease) -> DeliveryKey? {
        board.number(of: lease.delivery.endpoint)
            .map { DeliveryKey(event: lease.delivery.event.rawValue, endpoint: $0) }
    }

    func take(
        from endpoint: EndpointID, limit: Int, lease: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] {
        throw ChatError(.unavailable, "this engine cannot be pulled from yet")
    }

    func pace(_ endpoint: EndpointID, concurrency: Int?, notBefore: Timetoken?) async {}

    func count(_ query: DeliveryQuery, most: Int) async throws(ChatError) -> Int {
        throw ChatError(.unavailable, "this engine does not count yet")
    }

    func enqueue(_ items: [PlannedDelivery]) async throws(ChatError) -> Int {
        throw ChatError(.unavailable, "this engine does not replay out of the log yet")
    }

    func purge(_ ids: [String], in space: SpaceID) async throws(ChatError) -> Int {
        throw ChatError(.unavailable, "this engine does not purge yet")
    }

    func set(_ settings: LaneSettings, of endpoint: EndpointID) async throws(ChatError) {
        let (state, concurrency) = (settings.state, settings.concurrency)
        let number = try await writing.run { [board] (writer) throws(SQLiteFailure) in
            .success(try writer.set(state, of: endpoint, concurrency: max(1, concurrency), board: board))
        }
        guard state == .closed else { return }
        // The items of a long queue die in stretches, so that others' work goes on between them.
        while try await writing.run({ [board] (writer) throws(SQLiteFailure) in
            .success(try writer.bury(number, board: board))
        }) {}
    }

    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery> {
        let listing = try DeliveryListing(query)
        return try await readers.run { (reader) throws(SQLiteFailure) in try reader.list(listing) }
    }

    func delivery(_ id: String, in space: SpaceID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])? {
        let found = try await readers.run { (reader) throws(SQLiteFailure) in try reader.delivery(id, in: space) }
        return found.map { ($0.delivery, $0.attempts) }
    }

    func replay(_ selection: DeliverySelection, isDryRun: Bool) async throws(ChatError) -> Int {
        var count = 0
        var stretch = ReplayStretch(selection)
        while let current = stretch {
            let turn = try await writing.run(needsTransaction: !isDryRun) { [board] (writer) throws(SQLiteFailure) in
                .success(try writer.replay(current, isDryRun: isDryRun, board: board))
            }
            count += turn.count
            stretch = turn.next
        }
        return count
    }
}

extension Board.Grant {
    /// The lease of an item that is fresh from the planner: nothing has been stored of it beside.
    fileprivate var leaseOfPlanned: Lease? {
        guard let planned else { return nil }
        let delivery = Delivery(
            id: planned.id, endpoint: endpoint, event: planned.event, type: planned.type, channel: planned.channel,
            status: .pending, attempts: 0, due: Timetoken(item.due))
        return Lease(delivery: delivery, fence: fence, body: planned.body)
    }
}
