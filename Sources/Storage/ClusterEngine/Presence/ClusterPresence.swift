import ChatModel
import ChatPresence
import JSON
import Locking
import Logging
import Postgres
import StorageCore

/// The presence store of one node of a cluster.
///
/// A node keeps its connections, heartbeats and deadlines in memory. PostgreSQL has a row for each key and each node that
/// holds the key. The first row of a key is the begin of the entry, and the removal of the last row is its end. A
/// transaction about a key holds an advisory lock, so that exactly one node sees each begin and each end.
///
/// A change first happens in memory. The steps that it needs in PostgreSQL wait until a transaction has carried them out,
/// so a failure of PostgreSQL delays changes and loses none. After a failure, ``expire()`` repeats the steps.
///
/// The row of a node in the table `node` shows that the node lives. The others end what a dead node held.
actor ClusterPresence: PresenceStore {
    /// The number of this node, the `id` of its row in the table `node`.
    nonisolated let node: Int64
    nonisolated let reads: ConnectionPool
    /// The connection that writes.
    private let writes: ConnectionPool
    private let limits: Limits
    private let uptime: @Sendable () -> UInt64
    private nonisolated let memory: Lock<PresenceTable>
    /// Admits one operation at a time, so that the rows change in the order in which memory changed.
    private let turns = AsyncSemaphore(width: 1)
    /// The steps that memory has carried out and PostgreSQL has not, in order.
    private var pending: [PresenceStep] = []
    /// The changes that PostgreSQL has stored and that no operation has returned.
    private var reports: [PresenceChange] = []
    /// The epoch in which this node wrote its rows; nil before the first transaction.
    private var epoch: Int64?
    /// The last transaction, while its outcome is unknown.
    private let unresolved = Lock<WrittenSteps?>(nil)
    /// The connections that began since the last poll, with the keys that this node already held. PostgreSQL does not
    /// know whether they began before or after the user left on another node.
    private var recentHolds: [HolderID: (user: UserID, keys: [PresenceKey])] = [:]

    /// The users whose first connection to this node began since the last poll.
    private var newUsers: Set<UserID> = []
    /// The time of the database, in ticks, up to which this node knows the open channels that users have entered.
    private var participantsKnown: Int64 = 0

    /// The maximum number of steps in a transaction, and of rows in other statements.
    private static let stepsMost = 500
    /// The maximum number of transactions in one removal of a dead node's keys. The next round continues.
    private static let sweepsMost = 20

    /// Creates the store of a node that holds nothing.
    ///
    /// - Parameters:
    ///   - writes: a pool with one connection, only for this store. ``close()`` closes it.
    ///   - node: the `id` of a row in the table `node`, whose lease the caller renews.
    init(
        node: Int64, reads: ConnectionPool, writes: ConnectionPool, limits: Limits,
        uptime: @escaping @Sendable () -> UInt64
    ) {
        self.node = node
        self.reads = reads
        self.writes = writes
        self.limits = limits
        self.uptime = uptime
        memory = Lock(PresenceTable(limit: limits.presenceEntries))
    }

    /// Always true, because any node may die.
    nonisolated var mayExpire: Bool { true }

    nonisolated func isTaken(_ presenceKey: PresenceKey) -> Bool { memory.withLock { $0.isTaken(presenceKey) } }

    // MARK: Operations

    func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in
            try self.admit()
            let isNew = !table.isConnected(user)
            let known = presenceKeys.filter { table.isTaken($0) }
            let changes = try table.hold(presenceKeys, of: user, by: holder)
            if isNew { self.newUsers.insert(user) }
            if !known.isEmpty { self.recentHolds[holder, default: (user, [])].keys += known }
            return changes
        }
    }

    func renew(_ presenceKeys: [PresenceKey], for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in
            try self.admit()
            return try table.renew(presenceKeys, for: duration.nanoseconds, now: self.uptime())
        }
    }

    func disconnect(_ holder: HolderID, grace: Duration) async throws(ChatError) {
        await turns.enter()
        defer { turns.leave() }
        recentHolds[holder] = nil
        let now = uptime()
        memory.withLock { $0.disconnect(holder, grace: grace.nanoseconds, now: now) }
    }

    func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in
            self.recentHolds[holder] = nil
            return table.conclude(holder, for: duration.nanoseconds, now: self.uptime())
        }
    }

    func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in
            self.recentHolds[holder] = nil
            return table.release(presenceKeys, by: holder)
        }
    }

    func leave(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in
            try self.admit()
            // The user leaves on all nodes, whether or not this node holds the key.
            _ = table.leave(presenceKeys, now: self.uptime())
            self.pending += presenceKeys.map { .leave($0) }
            return []
        }
    }

    func setState(_ state: JSONText?, of presenceKey: PresenceKey) async throws(ChatError) -> [PresenceChange] {
        await turns.enter()
        defer { turns.leave() }
        try await flush()
        guard let plan = try await commit([.show(state, presenceKey)]) else { throw .storeUnavailable }
        guard plan.isHeld(presenceKey) else { throw .notPresent(presenceKey.user) }
        return takeReports()
    }

    func expire() async throws(ChatError) -> [PresenceChange] {
        await turns.enter()
        defer { turns.leave() }
        let now = uptime()
        add(memory.withLock { $0.expire(now: now) })
        let dead = try await poll()
        try await flush()
        if pending.isEmpty {
            try await adoptParticipants()
            for other in dead { try await sweep(other) }
        }
        return takeReports()
    }

    /// Carries out an operation in memory, and then in PostgreSQL.
    private func perform(
        _ body: (inout PresenceTable) throws(ChatError) -> [PresenceChange]
    ) async throws(ChatError) -> [PresenceChange] {
        await turns.enter()
        defer { turns.leave() }
        add(try memory.withLock { table throws(ChatError) in try body(&table) })
        try await flush()
        return takeReports()
    }

    private func admit() throws(ChatError) {
        guard pending.count < limits.waitingDrafts else { throw .overloaded }
    }

    /// Adds the steps that correspond to changes in memory.
    private func add(_ changes: [PresenceChange]) {
        for change in changes {
            switch change.happening {
            case .joined: pending.append(.enter(change.presenceKey))
            case .left, .timedOut: pending.append(.end(change.presenceKey, node: node, change.happening))
            case .stateChanged, .renewed: break
            }
        }
    }

    private func takeReports() -> [PresenceChange] {
        defer { reports = [] }
        return reports
    }

    /// Keeps the rows of this node until the users have had the time to connect to another node. Closes the connection.
    func close() async {
        await turns.enter()
        defer { turns.leave() }
        // Without the server, the other nodes see the end of the lease.
        _ = try? await writes.run([PresenceStatements.close(node, grace: limits.presenceGrace)])
        await writes.close()
    }
}

// MARK: - Writing

extension ClusterPresence {
    /// The steps of a transaction and their effects.
    private struct WrittenSteps: Sendable {
        /// The number of the transaction, drawn at random.
        let change: Int64
        /// The number of steps that the transaction took from `pending`.
        let consumed: Int
        let plan: PresencePlan
    }

    private enum Outcome: Sendable {
        case written(PresencePlan)
        /// The transaction before, whose outcome was unknown, has been committed. Nothing else happened.
        case earlierWritten
        /// The rows of this node are lost.
        case rowsLost
        /// Other nodes have to write their lost rows first.
        case unsettled
        /// The node that is to be swept lives.
        case alive
    }

    /// The number of attempts at a transaction. Each attempt removes the cause for which the one before was not carried
    /// out, unless the server fails again.
    private static let attemptsMost = 4

    /// Carries out the pending steps. Returns early if other nodes have to write their lost rows first.
    private func flush() async throws(ChatError) {
        var attempts = 0
        while let first = pending.first {
            let chunk = Array(pending.prefix(Self.stepsMost).prefix { $0.isRestore == first.isRestore })
            switch try await attempt(chunk, consuming: chunk.count) {
            case .written: attempts = 0
            case .unsettled, .alive: return
            case .earlierWritten, .rowsLost:
                attempts += 1
                guard attempts < Self.attemptsMost else { throw .storeUnavailable }
            }
        }
    }

    /// Carries out steps that are not pending. Returns nil if they must wait, or if the node to be swept lives.
    private func commit(_ steps: [PresenceStep], sweeping dead: Int64? = nil) async throws(ChatError) -> PresencePlan? {
        for _ in 0..<Self.attemptsMost {
            switch try await attempt(steps, sweeping: dead) {
            case .written(let plan): return plan
            case .unsettled, .alive: return nil
            case .earlierWritten: break
            case .rowsLost: try await flush()
            }
        }
        throw .storeUnavailable
    }

    /// Tries to carry out steps in a transaction.
    ///
    /// - Parameter consumed: the number of the steps that are pending. They are the first steps of `pending`.
    private func attempt(
        _ steps: [PresenceStep], consuming consumed: Int = 0, sweeping dead: Int64? = nil
    ) async throws(ChatError) -> Outcome {
        let outcome = try await asking { () throws(StoreFailure) in
            try await transact(steps, consuming: consumed, sweeping: dead)
        }
        switch outcome {
        case .written(let plan): finish(plan, consumed)
        case .earlierWritten:
            let earlier = unresolved.withLock { unresolved in
                defer { unresolved = nil }
                return unresolved
            }
            if let earlier { finish(earlier.plan, earlier.consumed) }
        case .rowsLost: try await register()
        case .unsettled, .alive: break
        }
        return outcome
    }

    private func finish(_ plan: PresencePlan, _ consumed: Int) {
        pending.removeFirst(consumed)
        reports += plan.changes
        memory.withLock { $0.adopt(plan.adopted) }
        keep(plan.rows.ownStates)
    }

    /// Keeps the states of keys that this node holds, so that it can write them again.
    private func keep(_ states: [(PresenceKey, JSONText?)]) {
        memory.withLock { table in
            for (key, state) in states { _ = try? table.setState(state, of: key) }
        }
    }

    private func transact(
        _ steps: [PresenceStep], consuming consumed: Int, sweeping dead: Int64?
    ) async throws(StoreFailure) -> Outcome {
        let (node, epoch, unresolved) = (node, epoch, unresolved)
        let isReady = pending.dropFirst(consumed).first?.isRestore != true
        let keys = Array(Set(steps.map(\.presenceKey)))
        let scopes = Array(Set(keys.map(\.presenceScope)))
        return try await writes.with { (connection) throws(PostgresFailure) in
            let rows = try await connection.run([
                PresenceStatements.begin, PresenceStatements.lock(keys),
                PresenceStatements.lockNodes(Set([node] + (dead.map { [$0] } ?? []))), PresenceStatements.epoch,
                PresenceStatements.holdings(keys), PresenceStatements.counts(scopes),
            ])
            let refusal = Self.refusal(
                nodes: rows[2], epoch: rows[3], node, epoch, dead, unresolved.withLock { $0?.change },
                isRestoring: steps.allSatisfy(\.isRestore))
            if let refusal {
                _ = try await connection.run([PresenceStatements.rollback])
                return refusal
            }
            var plan = PresencePlan(node: node, holdings: rows[4].holdings, counts: rows[5].counts)
            for step in steps { plan.add(step) }
            let change = Int64.random(in: .min ... .max)
            let written = WrittenSteps(change: change, consumed: consumed, plan: plan)
            unresolved.withLock { $0 = written }
            _ = try await connection.run(
                PresenceStatements.write(plan.rows, node: node, change: change, isReady: isReady)
                    + [PresenceStatements.commit])
            unresolved.withLock { $0 = nil }
            return .written(plan)
        }
    }

    /// The reason why a transaction cannot be carried out; nil if it can.
    private static func refusal(
        nodes: Rows, epoch: Rows, _ node: Int64, _ known: Int64?, _ dead: Int64?, _ change: Int64?, isRestoring: Bool
    ) -> Outcome? {
        var changes: [Int64: (change: Int64, isSwept: Bool)] = [:]
        for row in 0..<nodes.count {
            changes[nodes.integer(row, 0) ?? 0] = (nodes.integer(row, 1) ?? 0, nodes.boolean(row, 2) ?? false)
        }
        guard epoch.count > 0, epoch.integer(0, 0) == known, let own = changes[node], !own.isSwept else {
            return .rowsLost
        }
        if let change, own.change == change { return .earlierWritten }
        if !isRestoring, epoch.boolean(0, 1) != true { return .unsettled }
        if let dead, changes[dead]?.isSwept != true { return .alive }
        return nil
    }

    /// Makes this node known to the others. If the rows of this node were lost, queues the steps that write them again:
    /// without changes if the server lost them, and with changes if the other nodes have ended the entries.
    private func register() async throws(ChatError) {
        let node = node
        let rows = try await asking { () throws(StoreFailure) in
            try await writes.run(PresenceStatements.register(node))
        }
        let current = rows[2].count > 0 ? rows[2].integer(0, 0) : nil
        let held = memory.withLock { $0.all }
        let later = pending.filter { !$0.isRestore }
        let steps = current != epoch ? restoringSteps(held, before: later) : rejoiningSteps(held)
        if steps.first?.isRestore != true {
            try await asking { () throws(StoreFailure) in _ = try await writes.run([PresenceStatements.ready(node)]) }
        }
        unresolved.withLock { $0 = nil }
        pending = steps + later
        epoch = current
    }

    /// The steps that write the rows as they were before other steps.
    private func restoringSteps(
        _ held: [(presenceKey: PresenceKey, state: JSONText?)], before later: [PresenceStep]
    ) -> [PresenceStep] {
        let firstSteps = Dictionary(later.map { ($0.presenceKey, $0) }) { first, _ in first }
        let keys = Set(held.map(\.presenceKey))
        var steps: [PresenceStep] = []
        for (key, state) in held {
            if case .enter = firstSteps[key] { continue }
            steps.append(.restore(key, state))
        }
        for (key, step) in firstSteps where !keys.contains(key) {
            if case .end = step { steps.append(.restore(key, nil)) }
        }
        return steps
    }

    /// The steps that end the rows that are left, and begin all entries again.
    private func rejoiningSteps(_ held: [(presenceKey: PresenceKey, state: JSONText?)]) -> [PresenceStep] {
        held.flatMap { key, state -> [PresenceStep] in
            [.end(key, node: node, .timedOut), .enter(key)] + (state.map { [.show($0, key)] } ?? [])
        }
    }
}

// MARK: - Regular work

extension ClusterPresence {
    /// Learns what other nodes have changed. Returns the dead nodes.
    private func poll() async throws(ChatError) -> [Int64] {
        let rows = try await asking { () throws(StoreFailure) in
            try await writes.run(PresenceStatements.poll(node, limit: Self.stepsMost))
        }
        guard rows[0].count > 0, rows[0].integer(0, 0) == epoch, rows[1].count > 0 else {
            try await register()
            return []
        }
        try await apply(news: rows[3])
        // Rows beyond the limit may concern recent connections, too.
        if rows[3].count < Self.stepsMost { recentHolds = [:] }
        return (0..<rows[2].count).compactMap { rows[2].integer($0, 0) }
    }

    private func apply(news: Rows) async throws(ChatError) {
        guard news.count > 0 else { return }
        var ended: [PresenceKey] = []
        var states: [(PresenceKey, JSONText?)] = []
        for row in 0..<news.count {
            guard let key = news.presenceKey(row) else { continue }
            switch PresenceNews(rawValue: news.integer(row, 4) ?? 0) {
            case .ended: ended.append(key)
            case .state: states.append((key, news.state(row, 5)))
            case nil: break
            }
        }
        try await asking { () throws(StoreFailure) in
            _ = try await writes.run(PresenceStatements.takeNews(node, ended: ended, states: states))
        }
        keep(states)
        // A key with pending steps was held again after the user had left.
        let waiting = Set(pending.map(\.presenceKey))
        leaveElsewhere(ended.filter { !waiting.contains($0) })
    }

    /// Ends entries in memory whose users left on another node. A connection that began since the last poll holds the
    /// key again, because it may have begun after that.
    private func leaveElsewhere(_ keys: [PresenceKey]) {
        let (now, gone) = (uptime(), Set(keys))
        let changes = memory.withLock { table in
            _ = table.leave(keys, now: now)
            return recentHolds.flatMap { holder, hold in
                let again = hold.keys.filter { gone.contains($0) }
                return again.isEmpty ? [] : (try? table.hold(again, of: hold.user, by: holder)) ?? []
            }
        }
        add(changes)
    }

    /// Adds the entries of open channels that users with a connection to this node have entered on other nodes, so that
    /// these entries last as long as the connection. Looks for new entries, and for the entries of users whose
    /// connection is new.
    private func adoptParticipants() async throws(ChatError) {
        let users = Array(newUsers)
        for start in stride(from: 0, to: users.count, by: Self.stepsMost) {
            let part = Array(users[start..<min(start + Self.stepsMost, users.count)])
            let rows = try await asking { () throws(StoreFailure) in
                try await writes.run([PresenceStatements.participants(part)])[0]
            }
            try await adopt(rows)
            newUsers.subtract(part)
        }
        while true {
            let (known, node) = (participantsKnown, node)
            let rows = try await asking { () throws(StoreFailure) in
                try await writes.run(
                    PresenceStatements.participants(enteredAfter: known, elsewhereThan: node, limit: Self.stepsMost))
            }
            try await adopt(rows[1])
            guard rows[1].count == Self.stepsMost else {
                participantsKnown = max(known, (rows[0].integer(0, 0) ?? 0) - PresenceStatements.openMost)
                return
            }
            participantsKnown = rows[1].integer(rows[1].count - 1, 4) ?? 0
        }
    }

    private func adopt(_ rows: Rows) async throws(ChatError) {
        let keys = memory.withLock { table in
            Set((0..<rows.count).compactMap { rows.presenceKey($0) })
                .filter { table.isConnected($0.owner) && !table.isTaken($0) }
        }
        guard !keys.isEmpty else { return }
        _ = try await commit(keys.map { .adopt($0) })
    }

    /// Ends what a dead node held.
    private func sweep(_ dead: Int64) async throws(ChatError) {
        for _ in 0..<Self.sweepsMost {
            let rows = try await asking { () throws(StoreFailure) in
                try await writes.run(PresenceStatements.sweep(dead, limit: Self.stepsMost))
            }
            let keys = (0..<rows[1].count).compactMap { rows[1].presenceKey($0) }
            guard !keys.isEmpty else { break }
            let steps = keys.map { PresenceStep.end($0, node: dead, .timedOut) }
            guard try await commit(steps, sweeping: dead) != nil else { return }
        }
        try await asking { () throws(StoreFailure) in _ = try await writes.run([PresenceStatements.forget(dead)]) }
    }
}
