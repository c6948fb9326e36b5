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
        var planned: [(lane: Int64, item: PlannedDelivery, isInLine: Bool)] = []
        // Rows this call has added to each lane: what memory does not know yet.
        var added: [Int64: Int] = [:]
        for item in items {
            let number = try self.number(of: item.endpoint, board: board)
            let lane = board.standing(of: number)
            let refusal = refusal(lane, added: added[number, default: 0])
            let place = try refusal == nil ? place(of: item, number, lane) : Place()
            guard try insert(item, number, place, deadBecause: refusal), refusal == nil else { continue }
            added[number, default: 0] += 1
            planned.append((number, item, place.isInLine))
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
        if lane.state == .closed { return Self.closedReason }
        return lane.waiting + added < mostWaiting(lane) ? nil : "held_too_many"
    }

    /// How many may wait at an endpoint, whoever asks for more of it. One that is open may fall further behind than one that
    /// holds them, so that nothing is lost over a receiver's bad hour; but nobody need ever come for what is pulled.
    func mostWaiting(_ lane: Board.Standing) -> Int {
        memory.limits.deliveriesHeld * (lane.state == .open ? 10 : 1)
    }

    static let closedReason = "webhook_deleted"
    private static let exhaustedReason = "attempts_exhausted"

    /// Where an item stands when it is stored.
    struct Place {
        var chain: Chain?
        var isInLine = false
        var isManual = false
    }

    /// The end of its chain, as the planner goes by the order of events.
    private func place(
        of item: PlannedDelivery, _ number: Int64, _ lane: Board.Standing?
    ) throws(SQLiteFailure) -> Place {
        guard let lane, let chain = Chain(lane.settings.ordering, endpoint: number, channel: item.channel) else {
            return Place(isInLine: lane?.isReordering ?? false)
        }
        let hasOthers = try !isEmpty(chain)
        return Place(chain: chain, isInLine: lane.isReordering || hasOthers)
    }

    /// - Returns: false if the item was there already.
    func insert(
        _ item: PlannedDelivery, _ number: Int64, _ place: Place, deadBecause reason: String? = nil
    ) throws(SQLiteFailure) -> Bool {
        let insert = statements.deliveries.insert
        insert.bind(Int64(item.event.rawValue), at: 1)
        insert.bind(number, at: 2)
        insert.bind(item.id, at: 3)
        insert.bind(try id(ofType: item.type), at: 4)
        insert.bind(item.channel, at: 5)
        insert.bind((reason == nil ? StoredState.waiting : .dead).rawValue, at: 6)
        insert.bind(place.chain != nil && place.isInLine ? Self.inLine : Int64(now.rawValue), at: 7)
        insert.bind(Int64(now.rawValue), at: 8)
        insert.bind(reason, at: 9)
        insert.bind(place.chain?.number, at: 11)
        insert.bind(place.isManual ? 1 : 0, at: 12)
        guard let body = item.body else {
            insert.bindNull(at: 10)
            try insert.run()
            return database.changes == 1
        }
        try body.withUnsafeBufferPointer { (bytes) throws(SQLiteFailure) in
            insert.bindInPlace(bytes: bytes, at: 10)
            try insert.run()
        }
        return database.changes == 1
    }

    /// The endpoint's number; a new one begins open.
    func number(of endpoint: EndpointID, board: Board) throws(SQLiteFailure) -> Int64 {
        if let known = board.number(of: endpoint) { return known }
        let make = statements.deliveries.makeEndpoint
        make.bind(endpoint.space.name, at: 1)
        make.bind(endpoint.name, at: 2)
        make.bind(memory.limits.deliveryConcurrency, at: 3)
        return try store(make, board).number
    }

    // MARK: Lanes

    func set(
        _ settings: LaneSettings, of endpoint: EndpointID, board: Board
    ) throws(SQLiteFailure) -> StoredEndpoint {
        let put = statements.deliveries.putEndpoint
        put.bind(endpoint.space.name, at: 1)
        put.bind(endpoint.name, at: 2)
        put.bind(settings.state.rawValue, at: 3)
        put.bind(settings.concurrency, at: 4)
        put.bind(settings.ordering.rawValue, at: 5)
        if let rate = settings.rate { put.bind(rate, at: 6) } else { put.bindNull(at: 6) }
        put.bind(settings.batch, at: 7)
        put.bind(settings.isPulled ? 1 : 0, at: 8)
        put.bind(settings.attempts.map { Int64($0) }, at: 9)
        return try store(put, board)
    }

    private func store(_ put: Statement, _ board: Board) throws(SQLiteFailure) -> StoredEndpoint {
        defer { put.reset() }
        guard try put.step() else {
            throw SQLiteFailure(kind: .other, message: "the endpoint's row did not come back")
        }
        let stored = put.storedEndpoint
        effects.append { board.set(stored) }
        return stored
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
        let most = Lane.capacity + (board.standing(of: number)?.leases ?? 0)
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
        var settled: [(key: DeliveryKey, ending: Board.Ending)] = []
        var recorded: [Bool] = []
        var chains: Set<Chain> = []
        settled.reserveCapacity(attempts.count)
        recorded.reserveCapacity(attempts.count)
        for (attempt, key) in zip(attempts, keys) {
            guard let key else {
                recorded.append(false)
                continue
            }
            let (ending, chain) = try finish(
                key, attempt.outcome, attempts: attempt.lease.delivery.attempts,
                channel: attempt.lease.delivery.channel, board: board)
            recorded.append(ending != nil)
            settled.append((key, ending ?? .over))
            if let chain { chains.insert(chain) }
        }
        effects.append { [settled] in board.settle(settled) }
        // Behind the endings, which free the leases.
        for chain in chains { try advance(chain, board: board) }
        return recorded
    }

    /// Records leases that ran out as attempts that failed.
    func expire(_ leases: [ExpiredLease], board: Board) throws(SQLiteFailure) {
        var settled: [(key: DeliveryKey, ending: Board.Ending)] = []
        var chains: Set<Chain> = []
        for lease in leases {
            let lasted = Duration.nanoseconds(Int64(lease.lasted))
            let attempt = DeliveryAttempt(
                at: now.adding(.zero - lasted), status: nil, error: "ack_deadline",
                durationMilliseconds: Int(lease.lasted / 1_000_000))
            let outcome = DeliveryOutcome(.retry(at: now), attempt: attempt)
            let (ending, chain) = try finish(lease.key, outcome, attempts: 1, channel: "", board: board)
            settled.append((lease.key, ending ?? .over))
            if let chain { chains.insert(chain) }
        }
        effects.append { [settled] in board.settle(settled) }
        for chain in chains { try advance(chain, board: board) }
    }

    /// - Parameters:
    ///   - attempts: those before this one, as far as the caller knows.
    ///   - channel: likewise; a pulled endpoint's is read from the file.
    /// - Returns: what becomes of the item, nil if it is not there any more; and the chain that may go on.
    private func finish(
        _ key: DeliveryKey, _ outcome: DeliveryOutcome, attempts: Int, channel: String, board: Board
    ) throws(SQLiteFailure) -> (Board.Ending?, Chain?) {
        var outcome = outcome
        let lane = board.standing(of: key.endpoint)
        var (log, tries, channel) = (AttemptLog(), attempts, channel)
        if attempts > 0 || lane?.settings.attempts != nil { (log, tries, channel) = try history(of: key) }
        log.append(outcome.attempt)
        if case .retry(let due) = outcome.verdict {
            if lane?.state == .closed {
                outcome.verdict = .dead(reason: Self.closedReason)
            } else if let most = lane?.settings.attempts, tries + 1 >= most {
                outcome.verdict = .dead(reason: Self.exhaustedReason)
            } else {
                outcome.verdict = .retry(at: min(due, now.adding(DeliveryOutcome.longestRetry)))
            }
        }
        let chain = lane.flatMap { Chain($0.settings.ordering, endpoint: key.endpoint, channel: channel) }
        var ending = Board.Ending.over
        if let due = outcome.due?.rawValue {
            ending =
                try chain.map { chain throws(SQLiteFailure) in try isFirst(key.event, of: chain) } ?? true
                ? .due(due) : .inLine
        }
        let isThere = try store(outcome, ending, log, chain, of: key)
        return (isThere ? ending : nil, chain)
    }

    private func store(
        _ outcome: DeliveryOutcome, _ ending: Board.Ending, _ log: AttemptLog, _ chain: Chain?, of key: DeliveryKey
    ) throws(SQLiteFailure) -> Bool {
        let finish = statements.deliveries.finish
        finish.bind(Int64(key.event), at: 1)
        finish.bind(key.endpoint, at: 2)
        finish.bind(outcome.stored.rawValue, at: 3)
        switch ending {
        case .over: finish.bind(0, at: 4)
        case .due(let due): finish.bind(Int64(due), at: 4)
        case .inLine: finish.bind(Self.inLine, at: 4)
        }
        finish.bind(Int64(now.rawValue), at: 5)
        finish.bind(outcome.reason, at: 6)
        finish.bind(log.packed, at: 7)
        if let body = outcome.body { finish.bind(body, at: 8) } else { finish.bindNull(at: 8) }
        finish.bind(outcome.due == nil ? nil : chain?.number, at: 9)
        try finish.run()
        return database.changes == 1
    }

    private func history(
        of key: DeliveryKey
    ) throws(SQLiteFailure) -> (log: AttemptLog, tries: Int, channel: String) {
        let find = statements.deliveries.attempts
        find.bind(Int64(key.event), at: 1)
        find.bind(key.endpoint, at: 2)
        defer { find.reset() }
        guard try find.step() else { return (AttemptLog(), 0, "") }
        return (AttemptLog(packed: find.bytes(0)), Int(find.integer(1)), find.text(2))
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
