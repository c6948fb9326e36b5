import ChatModel
import ChatPresence
import JSON
import Locking
import Postgres
import StorageCore

/// The presence store of one node of a cluster.
///
/// A node keeps its connections, heartbeats and deadlines in memory. PostgreSQL has a row for each key and each node that
/// holds the key. The first row of a key begins the entry, and the removal of the last row ends it. A transaction about
/// a key holds an advisory lock, so that exactly one node sees each beginning and each end.
///
/// A change first happens in memory. The steps that it needs in PostgreSQL wait until a transaction has carried them out,
/// so a failure of PostgreSQL delays changes and loses none. After a failure, only ``expire()`` asks PostgreSQL, until it
/// succeeds. Other calls then fail at once if they need PostgreSQL.
///
/// A call that makes a user present first learns who has left on other nodes, once for all calls of a round. So memory
/// answers only for users who are present in PostgreSQL, too, and needs no transaction for them.
///
/// The lease of the node shows that the node lives. The other nodes end what a dead node held. A node that was taken for
/// dead begins its entries again.
actor ClusterPresence: PresenceStore {
    /// The number of this node, the `id` of its row in the table `node`.
    nonisolated let node: Int64
    /// The connections that read.
    nonisolated let reads: ConnectionPool
    /// The connection that writes.
    let writes: ConnectionPool
    private let settings: ClusterEngineSettings
    /// Renews the lease of the node.
    let renewLease: @Sendable () async throws(StoreFailure) -> Void
    nonisolated let memory: Lock<PresenceTable>
    /// Admits one operation at a time, so that the rows change in the order in which memory changed.
    private let turns = AsyncSemaphore(width: 1)
    /// The steps that memory has carried out and PostgreSQL has not, in order.
    var pending: [PresenceStep] = []
    /// The changes that PostgreSQL has stored and that no operation has returned.
    var reports: [PresenceChange] = []
    /// The epoch in which this node wrote its rows; nil before the first transaction.
    var epoch: Int64?
    /// The last transaction, while its outcome is unknown.
    let unresolved = Lock<WrittenSteps?>(nil)
    /// The keys that memory held when a call made their users present while PostgreSQL could not be asked. A user who
    /// had left on another node before joins when it can be asked again.
    var unconfirmed: Set<PresenceKey> = []
    /// The calls for which this node knows who has left on other nodes.
    private var knowledge = Knowledge.none
    /// The users whose first connection to this node began since the last poll.
    var newUsers: Set<UserID> = []
    /// The time of the database, in ticks, up to which this node knows the open channels that users have entered.
    var participantsKnown: Int64 = 0
    /// Decides whether nodes whose leases have ended are dead.
    var watch: LeaseWatch
    /// True from a failure of PostgreSQL until ``expire()`` succeeds.
    private var isAway = false
    private var isClosed = false

    private enum Knowledge {
        /// Each call asks.
        case none
        /// The first call of the round asks, for all of them.
        case ofNextCall
        case ofRound
    }

    /// The maximum number of steps in a transaction, and of rows in other statements.
    static let stepsMost = 500

    /// Creates the store of a node that holds nothing.
    ///
    /// - Parameters:
    ///   - node: the `id` of a row in the table `node`.
    ///   - renewLease: renews the lease of the node, and adds the row again if it is missing.
    init(
        node: Int64, database: ClusterDatabase, settings: ClusterEngineSettings,
        renewLease: @escaping @Sendable () async throws(StoreFailure) -> Void
    ) {
        self.node = node
        reads = database.pool
        writes = ConnectionPool(database.settings, size: 1, logger: settings.logger)
        self.settings = settings
        self.renewLease = renewLease
        memory = Lock(PresenceTable(limit: settings.limits.presenceEntries))
        watch = LeaseWatch(settings.nodeLease)
    }

    /// The nanoseconds of a monotonic clock.
    var uptime: UInt64 { settings.uptime() }

    /// Always true, because any node may die.
    nonisolated var mayExpire: Bool { true }

    nonisolated var hasOtherNodes: Bool { true }

    nonisolated func isTaken(_ presenceKey: PresenceKey) -> Bool { memory.withLock { $0.isTaken(presenceKey) } }

    // MARK: Operations

    func beginRound() async {
        await turns.enter()
        defer { turns.leave() }
        knowledge = .ofNextCall
    }

    func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange] {
        try await perform(confirming: presenceKeys) { table throws(ChatError) in
            try self.admit()
            let isNew = !table.isConnected(user)
            let changes = try table.hold(presenceKeys, of: user, by: holder)
            if isNew { self.newUsers.insert(user) }
            return changes
        }
    }

    func renew(_ presenceKeys: [PresenceKey], for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        try await perform(confirming: presenceKeys) { table throws(ChatError) in
            try self.admit()
            return try table.renew(presenceKeys, for: duration.nanoseconds, now: self.uptime)
        }
    }

    func disconnect(_ holder: HolderID, grace: Duration) async throws(ChatError) {
        await turns.enter()
        defer { turns.leave() }
        let now = uptime
        memory.withLock { $0.disconnect(holder, grace: grace.nanoseconds, now: now) }
    }

    func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in
            table.conclude(holder, for: duration.nanoseconds, now: self.uptime)
        }
    }

    func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in table.release(presenceKeys, by: holder) }
    }

    func leave(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceChange] {
        try await perform { table throws(ChatError) in
            try self.admit()
            // The user leaves on all nodes, whether or not this node holds the key.
            _ = table.leave(presenceKeys, now: self.uptime)
            self.pending += presenceKeys.map { .leave($0) }
            return []
        }
    }

    func setState(_ state: JSONText?, of presenceKey: PresenceKey) async throws(ChatError) -> [PresenceChange] {
        await turns.enter()
        defer { turns.leave() }
        guard !isClosed else { throw .closing }
        guard !isAway else { throw .storeUnavailable }
        try await flush()
        guard let plan = try await commit([.show(state, presenceKey)]) else { throw .storeUnavailable }
        guard plan.isHeld(presenceKey) else { throw .notPresent(presenceKey.user) }
        return takeReports(of: [presenceKey])
    }

    func expire() async throws(ChatError) -> [PresenceChange] {
        await turns.enter()
        defer { turns.leave() }
        guard !isClosed else { throw .closing }
        let now = uptime
        add(memory.withLock { $0.expire(now: now) })
        isAway = true
        let dead = try await poll()
        try await flush()
        if pending.isEmpty {
            try await adoptParticipants()
            for other in dead { try await sweep(other) }
        }
        isAway = false
        defer { reports = [] }
        return reports
    }

    /// Carries out an operation in memory, and then in PostgreSQL.
    ///
    /// - Parameter presenceKeys: the keys whose users the operation makes present.
    private func perform(
        confirming presenceKeys: [PresenceKey] = [],
        _ body: (inout PresenceTable) throws(ChatError) -> [PresenceChange]
    ) async throws(ChatError) -> [PresenceChange] {
        await turns.enter()
        defer { turns.leave() }
        guard !isClosed else { throw .closing }
        await confirm(presenceKeys)
        let before = pending.count
        add(try memory.withLock { table throws(ChatError) in try body(&table) })
        let keys = Set(pending[before...].map(\.presenceKey))
        guard !keys.isEmpty else { return [] }
        guard !isAway else { throw .presenceDelayed }
        do throws(ChatError) {
            try await flush()
        } catch {
            isAway = true
            throw .presenceDelayed
        }
        return takeReports(of: keys)
    }

    /// Learns which users left on other nodes, if memory holds one of the keys. Without PostgreSQL, the operation goes
    /// on, because it must not lose a connection.
    private func confirm(_ presenceKeys: [PresenceKey]) async {
        guard knowledge != .ofRound else { return }
        let held = presenceKeys.filter(isTaken)
        guard !held.isEmpty else { return }
        if !isAway {
            do throws(ChatError) {
                try await learn()
                if knowledge == .ofNextCall { knowledge = .ofRound }
                return
            } catch {
                isAway = true
            }
        }
        unconfirmed.formUnion(held)
    }

    /// - Throws: `.overloaded` when too many steps wait.
    private func admit() throws(ChatError) {
        guard pending.count < settings.limits.waitingDrafts else { throw .overloaded }
    }

    /// Adds the steps that correspond to changes in memory.
    func add(_ changes: [PresenceChange]) {
        for change in changes {
            switch change.happening {
            case .joined: pending.append(.enter(change.presenceKey))
            case .left, .timedOut: pending.append(.end(change.presenceKey, node: node, change.happening))
            case .stateChanged, .renewed: break
            }
        }
    }

    /// Takes the changes of some keys. ``expire()`` returns the others, because they do not come from the same request.
    private func takeReports(of keys: Set<PresenceKey>) -> [PresenceChange] {
        defer { reports.removeAll { keys.contains($0.presenceKey) } }
        return reports.filter { keys.contains($0.presenceKey) }
    }

    /// Keeps the rows of this node until the users have had the time to connect to another node, and closes the
    /// connection. The lease of the node may end afterwards.
    func close() async {
        await turns.enter()
        defer { turns.leave() }
        isClosed = true
        // Without the server, the other nodes see the end of the lease.
        if epoch != nil, !isAway {
            _ = try? await writes.run([PresenceStatements.close(node, grace: settings.limits.presenceGrace)])
        }
        await writes.close()
    }
}

/// Tells whether a node has watched the leases of the other nodes long enough to take a node for dead.
///
/// When PostgreSQL was away, or when this node was suspended, the leases of all nodes may have ended. Then the other
/// nodes get the duration of a lease to renew them.
struct LeaseWatch: Sendable {
    private let lease: NodeLease
    private var last: UInt64?
    private var since: UInt64 = 0

    init(_ lease: NodeLease) { self.lease = lease }

    /// Records a successful poll. Returns true if nodes whose leases have ended are dead.
    mutating func poll(at uptime: UInt64) -> Bool {
        // After a longer break, the next renewal of another node may come too late.
        let longestBreak = (lease.margin - lease.renewal).nanoseconds
        if last.map({ uptime - $0 > longestBreak }) ?? true { since = uptime }
        last = uptime
        return uptime - since >= lease.duration.nanoseconds
    }
}

extension ChatError {
    fileprivate static let presenceDelayed = ChatError(
        .unavailable, "the store is unavailable; the change of presence happens as soon as it works again",
        retryAfter: .seconds(1))
}
