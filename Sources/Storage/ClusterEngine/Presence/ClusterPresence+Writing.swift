import ChatModel
import ChatPresence
import JSON
import Locking
import Postgres
import StorageCore

extension ClusterPresence {
    /// The steps of a transaction and their effects.
    struct WrittenSteps: Sendable {
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

    /// The maximum number of attempts at a transaction. Before each further attempt, the node removes the cause of the
    /// previous failure, unless the server fails again.
    private static let attemptsMost = 4

    /// Carries out the pending steps. Returns early if other nodes have to write their lost rows first.
    func flush() async throws(ChatError) {
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
    func commit(_ steps: [PresenceStep], sweeping dead: Int64? = nil) async throws(ChatError) -> PresencePlan? {
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

    /// Runs statements on the connection that writes, in one round trip.
    @discardableResult func write(_ statements: [Statement]) async throws(ChatError) -> [Rows] {
        try await asking { () throws(StoreFailure) in try await writes.run(statements) }
    }

    private func finish(_ plan: PresencePlan, _ consumed: Int) {
        pending.removeFirst(consumed)
        reports += plan.changes
        memory.withLock { $0.adopt(plan.adopted) }
        keep(plan.rows.ownStates)
    }

    /// Keeps the states of keys that this node holds, so that it can write them again.
    func keep(_ states: [(PresenceKey, JSONText?)]) {
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
    func register() async throws(ChatError) {
        // Otherwise the other nodes would take this node for dead again.
        try await asking(renewLease)
        let rows = try await write(PresenceStatements.register(node))
        let current = rows[2].count > 0 ? rows[2].integer(0, 0) : nil
        let held = memory.withLock { $0.all }
        let later = pending.filter { !$0.isRestore }
        let steps = current != epoch ? restoringSteps(held, before: later) : rejoiningSteps(held)
        // Their rows are written again.
        if current != epoch { unconfirmed = [] }
        if steps.first?.isRestore != true {
            try await write([PresenceStatements.ready(node)])
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
