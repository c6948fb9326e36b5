public import ChatModel
public import JSON
public import Locking
public import Signing
import Synchronization

/// The chat service of one gateway process, shared by all apps. For each request, call ``chat(for:device:cause:)`` to
/// get a `ChatAccess`.
public final class ChatService: Sendable {
    /// The storage: the event log, the directory of records and the queues.
    public let engine: any Engine
    /// The event log of the storage.
    let log: any EventLog
    /// The limits of the service. An operator may replace the limits while the service runs. Caches that were sized at
    /// the start keep their size.
    public let liveLimits: LiveLimits
    /// The source of the current time.
    public let clock: WallClock
    /// Encrypts the secrets that are stored, and decrypts them.
    public let vault: Vault
    /// Distributes committed events to their subscribers.
    public let hub: Hub
    /// The executor of the tasks that follow the event log; nil for Swift's default pool.
    private let tasks: (any TaskExecutor)?
    /// Records traces; nil when tracing is disabled.
    public let tracer: Tracer?
    /// The apps and API keys, in memory.
    public let keyring: Keyring
    /// The event types of all apps, with the validators of their payloads.
    public let eventTypes: EventTypes
    /// A cache of channel rules and of users' rights in channels.
    let accessCache: ChannelAccessCache
    /// Presence, participants of open channels, and typing users.
    public let presence: PresenceTracker
    /// The log of administrative operations.
    public let audit: AuditLog
    /// The stored responses of requests that clients may repeat with an idempotency key.
    public let answers: StoredAnswers
    /// Calls between this node and the other nodes that share the store.
    public let nodes: NodeCalls
    let restrictionEnds: RestrictionExpiries
    let revokedTokens: RevokedTokens
    let unread: UnreadCounts
    let activity: ChannelActivity
    let pendingDeletions: PendingDeletions
    let recordCatchUp: RecordCatchUp
    /// True if other nodes use the same store.
    public let isShared: Bool
    private let deletionCounter: DeletionCounter
    private let groupObservers = Lock<[@Sendable (Revision) async -> Void]>([])

    /// Creates the service. Call `run(whenReady:)` to start it.
    ///
    /// - Parameters:
    ///   - store: the store of presence; nil to store presence in the memory of this process.
    ///   - executor: the executor of the hub. Use the loop, so that sending events to streams needs no thread
    ///     switch.
    ///   - tasks: the loop as a task executor, so that the tasks of the hub resume on the loop after each
    ///     wait; nil to run them in Swift's default pool.
    public init(
        engine: any Engine, presence store: (any PresenceStore)? = nil, limits: Limits = Limits(),
        clock: WallClock = .system, vault: Vault = Vault(), executor: any ClosureExecutor,
        tasks: (any TaskExecutor)? = nil, tracer: Tracer? = nil
    ) {
        self.tracer = tracer
        self.engine = engine
        log = engine.log
        liveLimits = LiveLimits(limits)
        self.clock = clock
        self.vault = vault
        activity = ChannelActivity(engine: engine, limits: limits, clock: clock)
        deletionCounter = DeletionCounter()
        isShared = engine.directory.isShared
        hub = Hub(
            log: log, executor: executor, turnTime: limits.hubTurn, activity: activity,
            deletions: isShared ? deletionCounter : nil)
        self.tasks = tasks
        keyring = Keyring(directory: engine.directory, clock: clock, vault: vault, limits: limits)
        eventTypes = EventTypes(engine: engine, keyring: keyring, limits: liveLimits, clock: clock)
        pendingDeletions = PendingDeletions(directory: engine.directory)
        unread = UnreadCounts(engine: engine, pendingDeletions: pendingDeletions, limits: limits, clock: clock) {
            [activity, hub] users in
            guard activity.hasFollowers else { return [] }
            return await hub.namingActivity(users)
        }
        restrictionEnds = RestrictionExpiries(
            directory: engine.directory, keyring: keyring, clock: clock, limits: limits)
        revokedTokens = RevokedTokens(directory: engine.directory, keyring: keyring)
        accessCache = ChannelAccessCache(
            directory: engine.directory, keyring: keyring, pendingDeletions: pendingDeletions, limits: limits)
        recordCatchUp = RecordCatchUp(
            directory: engine.directory,
            mirrors: [keyring.mirror, eventTypes.mirror, revokedTokens.mirror, pendingDeletions.mirror])
        audit = AuditLog(directory: engine.directory, clock: clock, limits: liveLimits)
        answers = StoredAnswers(directory: engine.directory, clock: clock, window: limits.repeatWindow)
        nodes = NodeCalls(engine: engine, clock: clock)
        presence = PresenceTracker(
            engine: engine, store: store ?? MemoryPresenceStore(limits: limits), accessCache: accessCache,
            limits: limits,
            clock: clock)
    }

    /// The current limits.
    public var limits: Limits { liveLimits.current }

    /// A number that grows with each deletion of events, on any node. Code that caches events for a short time compares
    /// this number to detect that the cache may contain deleted events.
    public var deletions: UInt64 { deletionCounter.count }

    func countDeletion() { deletionCounter.add() }

    /// Returns the operations of the caller's app, with the caller's rights. Reads no storage.
    ///
    /// - Parameters:
    ///   - device: the id of the device that sent the request; nil when the request names none.
    ///   - cause: the id of the request.
    public func chat(for caller: Caller, device: String? = nil, cause: String? = nil) -> ChatAccess {
        ChatAccess(service: self, caller: caller, device: device, cause: cause)
    }

    /// Re-encrypts the stored secrets with the first key of the vault. Must be called before `run`.
    ///
    /// - Returns: the number of records that were rewritten.
    /// - Throws: `.unavailable` when the vault lacks the key of a secret; the errors of the store.
    public func resealSecrets() async throws(ChatError) -> Int {
        try await SecretReencryption(directory: engine.directory, vault: vault).run()
    }

    /// Loads keys and event types, and starts the hub. Returns when the task is cancelled or the engine closes.
    ///
    /// - Parameter whenReady: called once, when the hub begins to distribute events to subscribers.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let revision = try await keyring.load()
            try await applyRetentions()
            group.addTask { await self.keyring.follow(from: revision) }
            // All mirrors follow from this revision, so they also learn what changes in an app that another node has
            // added since.
            try await eventTypes.load()
            group.addTask { await self.eventTypes.follow(from: revision) }
            group.addTask { await self.eventTypes.reportViolations() }
            group.addTask { await self.eventTypes.keepCountsStored() }
            try await revokedTokens.load()
            group.addTask { await self.revokedTokens.follow(from: revision) }
            try await pendingDeletions.load(keyring.apps.map(\.id))
            group.addTask { await self.pendingDeletions.follow(from: revision) }
            group.addTask { await self.keepSweeping() }
            group.addTask { await self.keepGleaning() }
            group.addTask { await self.keepLogsSmall() }
            group.addTask { await self.nodes.run() }
            try await accessCache.load()
            group.addTask { await self.presence.run() }
            group.addTask { await self.unread.run() }
            group.addTask { await self.unread.runReports() }
            group.addTask { await self.activity.runReports() }
            try await restrictionEnds.load()
            group.addTask { await self.restrictionEnds.follow(from: revision) }
            group.addTask { await self.endRestrictions() }
            try await withTaskExecutorPreference(tasks) { try await hub.run(whenReady: whenReady) }
            group.cancelAll()
        }
    }

    /// Reads records, runs `body`, and commits the changes that `body` returns, in one step; see `Directory.decide`.
    /// The changes take effect on this node before this method returns.
    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        let decided =
            if let tracer {
                try await tracer.traced("store commit") { () async throws(ChatError) in
                    try await decideRecorded(keys, body)
                }
            } else { try await decideRecorded(keys, body) }
        pendingDeletions.record(decided.changes)
        if decided.changes.contains(where: { $0.key.kind == .group }) { await groupsChanged() }
        return decided
    }

    /// Runs a decision. If the current request has an idempotency key, the commit also contains the record of that key.
    private func decideRecorded<Value: Sendable>(
        _ keys: [RecordKey],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        guard let pending = PendingAnswer.change() else { return try await engine.directory.decide(keys, body) }
        do throws(ChatError) {
            let decided = try await engine.directory.decide(keys) { snapshot throws(ChatError) in
                var decision = try body(snapshot)
                if !decision.changes.isEmpty || !decision.events.isEmpty { decision.changes.append(pending) }
                return decision
            }
            if decided.changes.isEmpty { PendingAnswer.retract() }
            return decided
        } catch {
            PendingAnswer.retract()
            throw error
        }
    }

    /// Registers an observer of changed channel groups. After each change, the observer is called with a revision of
    /// the directory of records that includes the change. The response to the request that made the change waits for
    /// the observers. So a client that follows the group already follows the group's new channels when the response is
    /// sent.
    public func observeGroups(_ body: @escaping @Sendable (Revision) async -> Void) {
        groupObservers.withLock { $0.append(body) }
    }

    private func groupsChanged() async {
        // If the revision cannot be read, the observers learn of the change a moment later, as they do for changes of
        // other nodes.
        guard let revision = try? await engine.directory.revision() else { return }
        for observer in groupObservers.withLock({ $0 }) { await observer(revision) }
    }

    /// Appends an event of the gateway itself to the channel `$system` of an app, for the app's operators.
    ///
    /// - Throws: `.invalid` when the data does not match the schema of the built-in type; the errors of
    ///   `EventLog.append`.
    public func report(_ type: String, data: JSONText, in app: AppID) async throws(ChatError) {
        try eventTypes.admit(report: type, data)
        let draft = EventDraft(
            channel: ChannelID(ChannelID.systemName, in: app), type: type, kind: .other, data: data)
        _ = try await log.append([draft], claim: nil)
    }
}

/// Limits that an operator may replace while the gateway runs. Reading them takes no lock.
///
/// Replaced limits are never freed, because a reader may still use them. Therefore, each reload of the settings takes
/// some hundred bytes of memory.
public final class LiveLimits: Sendable {
    private final class RecordEdition: Sendable {
        let limits: Limits
        let before: RecordEdition?

        init(_ limits: Limits, after before: RecordEdition?) {
            self.limits = limits
            self.before = before
        }
    }

    /// The newest limits, as a retained reference that `deinit` releases.
    private let newest: Atomic<Unmanaged<RecordEdition>>

    /// Creates the limits with their first values.
    init(_ limits: Limits) {
        newest = Atomic(.passRetained(RecordEdition(limits, after: nil)))
    }

    deinit { newest.load(ordering: .acquiring).release() }

    /// The current limits.
    public var current: Limits {
        newest.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.limits }
    }

    /// Replaces the limits for all later reads. Only one call may run at a time.
    public func replace(by limits: Limits) {
        // The reference that `newest` retained moves to `before` of the new object.
        let before = newest.load(ordering: .acquiring).takeRetainedValue()
        newest.store(.passRetained(RecordEdition(limits, after: before)), ordering: .releasing)
    }
}
