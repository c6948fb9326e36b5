import ChatModel
import SQLite

/// How an item stands in its row; what users see follows from it and from the lane.
enum StoredState: Int { case waiting = 0, delivered = 1, dead = 2 }

extension Writer {
    // MARK: Planning

    /// Moves the cursor and stores the items, or says that the cursor is elsewhere.
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken, board: Board
    ) throws(SQLiteFailure) -> Result<Void, ChatError> {
        guard try move(cursor, from: from, to: to) else {
            return .failure(ChatError(.conflict, "the cursor '\(cursor.text)' is not at \(from)"))
        }
        var planned: [(lane: Int64, item: PlannedDelivery)] = []
        // Rows this call has added to each lane: what memory does not know yet.
        var added: [Int64: Int] = [:]
        for item in items {
            let number = try self.number(of: item.endpoint, board: board)
            let refusal = refusal(board.standing(of: number), added: added[number, default: 0])
            guard try insert(item, number, deadBecause: refusal), refusal == nil else { continue }
            added[number, default: 0] += 1
            planned.append((number, item))
        }
        effects.append { [memory, planned, now] in
            memory.retention.move(cursor, to: to)
            board.add(planned, due: now.rawValue)
        }
        return .success(())
    }

    private func move(_ cursor: CursorName, from: Timetoken, to: Timetoken) throws(SQLiteFailure) -> Bool {
        let move = statements.deliveries.moveCursor
        move.bind(cursor.text, at: 1)
        move.bind(Int64(from.rawValue), at: 2)
        move.bind(Int64(to.rawValue), at: 3)
        try move.run()
        guard database.changes == 0 else { return true }
        guard from == .zero else { return false }
        let begin = statements.deliveries.beginCursor
        begin.bind(cursor.text, at: 1)
        begin.bind(Int64(to.rawValue), at: 2)
        try begin.run()
        return database.changes == 1
    }

    /// Why an item for this lane is dead from the start; nil if it is not.
    private func refusal(_ lane: Board.Standing?, added: Int) -> String? {
        guard let lane else { return nil }
        return switch lane.state {
        case .open: nil
        case .paused: lane.waiting + added < memory.limits.deliveriesHeld ? nil : "held_too_many"
        case .closed: Self.closedReason
        }
    }

    static let closedReason = "webhook_deleted"

    /// - Returns: false if the item was there already.
    private func insert(
        _ item: PlannedDelivery, _ number: Int64, deadBecause reason: String?
    ) throws(SQLiteFailure) -> Bool {
        let insert = statements.deliveries.insert
        insert.bind(Int64(item.event.rawValue), at: 1)
        insert.bind(number, at: 2)
        insert.bind(item.id, at: 3)
        insert.bind(try id(ofType: item.type), at: 4)
        insert.bind(item.channel, at: 5)
        insert.bind((reason == nil ? StoredState.waiting : .dead).rawValue, at: 6)
        insert.bind(Int64(now.rawValue), at: 7)
        insert.bind(reason, at: 8)
        guard let body = item.body else {
            insert.bindNull(at: 9)
            try insert.run()
            return database.changes == 1
        }
        try body.withUnsafeBufferPointer { (bytes) throws(SQLiteFailure) in
            insert.bindInPlace(bytes: bytes, at: 9)
            try insert.run()
        }
        return database.changes == 1
    }

    /// The endpoint's number; a new one begins open.
    private func number(of endpoint: EndpointID, board: Board) throws(SQLiteFailure) -> Int64 {
        if let known = board.number(of: endpoint) { return known }
        return try set(nil, of: endpoint, concurrency: memory.limits.deliveryConcurrency, board: board)
    }

    // MARK: Lanes

    /// - Parameter state: nil keeps an endpoint as it is, and opens a new one.
    @discardableResult
    func set(
        _ state: LaneState?, of endpoint: EndpointID, concurrency: Int, board: Board
    ) throws(SQLiteFailure) -> Int64 {
        let put = statements.deliveries.putEndpoint
        put.bind(endpoint.space.name, at: 1)
        put.bind(endpoint.name, at: 2)
        put.bind((state?.rawValue).map(Int64.init), at: 3)
        put.bind(concurrency, at: 4)
        defer { put.reset() }
        guard try put.step() else {
            throw SQLiteFailure(kind: .other, message: "the endpoint's row did not come back")
        }
        let number = put.integer(0)
        let stored = LaneState(rawValue: Int(put.integer(1))) ?? .open
        effects.append { board.set(number, endpoint, stored, concurrency: concurrency) }
        return number
    }

    /// Turns waiting items of a closed endpoint dead, some at a time. True while there may be more.
    func bury(_ number: Int64, board: Board) throws(SQLiteFailure) -> Bool {
        let bury = statements.deliveries.bury
        bury.bind(number, at: 1)
        bury.bind(Self.closedReason, at: 2)
        bury.bind(Int64(now.rawValue), at: 3)
        try bury.run()
        let isMoreLeft = database.changes == Self.turnRows
        if !isMoreLeft { effects.append { board.clear(number) } }
        return isMoreLeft
    }

    /// Reads a lane's earliest items from the file into memory.
    func fetchLane(_ number: Int64, board: Board) throws(SQLiteFailure) {
        let find = statements.deliveries.findDue
        find.bind(number, at: 1)
        // Leased items stand among the earliest in the file, and memory leaves them out.
        let most = Lane.capacity + (board.standing(of: number)?.leased ?? 0)
        find.bind(most, at: 2)
        var items: [DueItem] = []
        try find.forEachRow { row in
            items.append(DueItem(event: UInt64(row.integer(0)), due: UInt64(row.integer(1))))
            return true
        }
        effects.append { board.replace(number, with: items, isComplete: items.count < most) }
    }

    // MARK: Attempts

    /// Records attempts; fences were checked. False where there is no key (the lease was lost) or no row any more.
    func finish(
        _ attempts: [(lease: Lease, outcome: DeliveryOutcome)], _ keys: [DeliveryKey?], board: Board
    ) throws(SQLiteFailure) -> [Bool] {
        var settled: [(key: DeliveryKey, retryAt: UInt64?)] = []
        var recorded: [Bool] = []
        settled.reserveCapacity(attempts.count)
        recorded.reserveCapacity(attempts.count)
        for (attempt, key) in zip(attempts, keys) {
            guard let key else {
                recorded.append(false)
                continue
            }
            let (isThere, due) = try finish(attempt.lease, key, attempt.outcome, board: board)
            recorded.append(isThere)
            settled.append((key, due))
        }
        effects.append { [settled] in board.settle(settled) }
        return recorded
    }

    private func finish(
        _ lease: Lease, _ key: DeliveryKey, _ outcome: DeliveryOutcome, board: Board
    ) throws(SQLiteFailure) -> (isThere: Bool, retryAt: UInt64?) {
        var outcome = outcome
        if case .retry(let due) = outcome.verdict {
            outcome.verdict =
                board.standing(of: key.endpoint)?.state == .closed
                ? .dead(reason: Self.closedReason) : .retry(at: min(due, now.adding(DeliveryOutcome.longestRetry)))
        }
        var log = AttemptLog()
        if lease.delivery.attempts > 0 { log = try attempts(of: key) }
        log.append(outcome.attempt)
        let finish = statements.deliveries.finish
        finish.bind(Int64(key.event), at: 1)
        finish.bind(key.endpoint, at: 2)
        finish.bind(outcome.stored.rawValue, at: 3)
        finish.bind(Int64((outcome.due ?? .zero).rawValue), at: 4)
        finish.bind(Int64(now.rawValue), at: 5)
        finish.bind(outcome.reason, at: 6)
        finish.bind(log.packed, at: 7)
        if let body = outcome.body { finish.bind(body, at: 8) } else { finish.bindNull(at: 8) }
        try finish.run()
        let isThere = database.changes == 1
        return (isThere, isThere ? outcome.due?.rawValue : nil)
    }

    private func attempts(of key: DeliveryKey) throws(SQLiteFailure) -> AttemptLog {
        let find = statements.deliveries.attempts
        find.bind(Int64(key.event), at: 1)
        find.bind(key.endpoint, at: 2)
        defer { find.reset() }
        return try find.step() ? AttemptLog(packed: find.bytes(0)) : AttemptLog()
    }
}

extension DeliveryOutcome {
    fileprivate var stored: StoredState {
        switch verdict {
        case .delivered: .delivered
        case .retry: .waiting
        case .dead: .dead
        }
    }

    fileprivate var due: Timetoken? {
        if case .retry(let due) = verdict { due } else { nil }
    }

    fileprivate var reason: String? {
        if case .dead(let reason) = verdict { reason } else { nil }
    }
}
