import ChatModel
import Locking
import SQLite

/// The delivery queue of one file (`DeliveryQueue`).
struct SQLiteDeliveries: DeliveryQueue {
    let memory: Memory
    let board: Board
    let readers: Readers
    let writing: Writing

    @discardableResult
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int] {
        try await writing.run { [board] (writer) throws(SQLiteFailure) in
            try writer.plan(items, cursor: cursor, from: from, to: to, board: board)
        }
    }

    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken { memory.retention.cursor(name) }

    func take(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        try await leases(of: board.take(Board.Demand(limit: limit, capacity: capacity), within: wait))
    }

    func take(
        from subscriber: SubscriberID, limit: Int, lease: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] {
        guard let number = board.number(of: subscriber) else {
            throw ChatError(.notFound, "nothing was ever owed to '\(subscriber.name)'")
        }
        let demand = Board.Demand(limit: limit, lane: number, lease: lease.nanoseconds)
        return try await leases(of: board.take(demand, within: wait))
    }

    private func leases(of grants: [Board.Grant]) async throws(ChatError) -> [Lease] {
        guard grants.contains(where: { $0.planned == nil || $0.room > 0 }) else {
            return grants.compactMap(\.leaseOfPlanned)
        }
        var all = grants
        let facts: [DeliveryKey: Lease]
        do throws(ChatError) {
            if grants.contains(where: { $0.room > 0 }) { all = try await withFollowers(grants) }
            let wanted = all
            facts = try await readers.run { (reader) throws(SQLiteFailure) in try reader.leases(wanted) }
        } catch {
            for grant in all { board.giveBack(grant, isGone: false) }
            throw error
        }
        var leases: [Lease] = []
        for grant in all {
            if let lease = grant.leaseOfPlanned ?? facts[grant.key] {
                leases.append(lease)
            } else {
                board.giveBack(grant, isGone: true)
            }
        }
        return leases
    }

    /// With what waits in line behind the grants and may go with them, each behind the one it follows.
    private func withFollowers(_ grants: [Board.Grant]) async throws(ChatError) -> [Board.Grant] {
        let followers = try await readers.run { (reader) throws(SQLiteFailure) in try reader.followers(of: grants) }
        return grants.flatMap { grant in [grant] + (followers[grant.key].map { board.join(grant, $0) } ?? []) }
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

    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?] {
        let keys = bodies.map { key(of: $0.lease) }
        return try await writing.run { (writer) throws(SQLiteFailure) in .success(try writer.keep(bodies, keys)) }
    }

    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] {
        leases.map { lease in
            guard let key = key(of: lease) else { return false }
            return duration > .zero
                ? board.renew(key, fence: lease.fence, for: duration) : board.giveBack(key, fence: lease.fence)
        }
    }

    private func key(of lease: Lease) -> DeliveryKey? {
        board.number(of: lease.delivery.subscriber)
            .map { DeliveryKey(event: lease.delivery.event.rawValue, subscriber: $0) }
    }

    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError) {
        let stored = try await writing.run { [board] (writer) throws(SQLiteFailure) in
            .success(try writer.set(settings.bounded, of: subscriber, board: board))
        }
        // The items of a long queue die, or find their order, in stretches, so that others' work goes on between them.
        if settings.state == .closed {
            while try await writing.run({ [board] (writer) throws(SQLiteFailure) in
                .success(try writer.bury(stored.number, board: board))
            }) {}
        }
        if stored.reordering != .done { try await reorder(stored.number) }
    }

    /// Brings an endpoint's items into the order of its settings.
    func reorder(_ subscriber: Int64) async throws(ChatError) {
        var place: Writer.ReorderingPlace? = Writer.ReorderingPlace(subscriber: subscriber)
        while let current = place {
            place = try await writing.run { [board] (writer) throws(SQLiteFailure) in
                .success(try writer.reorder(current, board: board))
            }
        }
    }

    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async {
        guard let number = board.number(of: subscriber) else { return }
        board.pace(number, concurrency: concurrency, notBefore: notBefore?.rawValue ?? 0)
    }

    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery> {
        let listing = try DeliveryListing(query)
        return try await readers.run { (reader) throws(SQLiteFailure) in try reader.list(listing) }
    }

    func count(_ query: DeliveryQuery, most: Int) async throws(ChatError) -> Int {
        let listing = try DeliveryListing(query)
        return try await readers.run { (reader) throws(SQLiteFailure) in try reader.count(listing, most: most) }
    }

    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])? {
        let found = try await readers.run { (reader) throws(SQLiteFailure) in try reader.delivery(id, in: app) }
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

extension SQLiteDeliveries {
    func enqueue(_ items: [PlannedDelivery]) async throws(ChatError) -> (due: Int, taken: Int) {
        var (due, taken) = (0, 0)
        while taken < items.count {
            let part = items[taken...].prefix(Writer.turnRows)
            let turn = try await writing.run { [board] (writer) throws(SQLiteFailure) in
                .success(try writer.enqueue(part, board: board))
            }
            due += turn.due
            taken += turn.taken
            if turn.taken < part.count { break }
        }
        return (due, taken)
    }

    func purge(_ ids: [String], in app: AppID) async throws(ChatError) -> Int {
        try await inStretches(ids) { (writer, part) throws(SQLiteFailure) in try writer.purge(part, in: app) }
    }

    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int {
        guard let number = board.number(of: subscriber) else { return 0 }
        let end = min(event.rawValue, UInt64(Int64.max) - 1)
        var count = 0
        var position: UInt64? = 0
        while let after = position {
            let turn = try await writing.run { [board] (writer) throws(SQLiteFailure) in
                .success(try writer.skip(number, after: after, through: end, board: board))
            }
            count += turn.count
            position = turn.next
        }
        return count
    }

    /// So many at a time that others' work gets between.
    private func inStretches<Element: Sendable>(
        _ elements: [Element],
        _ body: @escaping @Sendable (Writer, ArraySlice<Element>) throws(SQLiteFailure) -> Int
    ) async throws(ChatError) -> Int {
        var count = 0
        for start in stride(from: 0, to: elements.count, by: Writer.turnRows) {
            let part = elements[start...].prefix(Writer.turnRows)
            count += try await writing.run { (writer) throws(SQLiteFailure) in .success(try body(writer, part)) }
        }
        return count
    }
}

extension Board.Grant {
    /// The lease of an item that is fresh from the planner: nothing has been stored of it beside.
    fileprivate var leaseOfPlanned: Lease? {
        guard let planned else { return nil }
        let delivery = Delivery(
            id: planned.id, subscriber: subscriber, event: planned.event, type: planned.type, channel: planned.channel,
            status: .pending, attempts: 0, due: Timetoken(item.due))
        return Lease(delivery: delivery, fence: fence, body: planned.body, batch: batch)
    }
}
