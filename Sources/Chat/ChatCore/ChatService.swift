public import ChatModel
public import JSON
import Locking
public import Signing
import Synchronization

/// The chat of one gateway process, shared by all apps. Interfaces take a `ChatAccess` from it for each request.
public final class ChatService: Sendable {
    /// The storage: the event log, the directory of records and the queues.
    public let engine: any Engine
    /// The limits. They may be replaced while the service runs. Structures that were sized by them at the start keep
    /// their size.
    public let liveLimits: LiveLimits
    /// The source of the current time.
    public let clock: WallClock
    /// Encrypts the secrets that are stored.
    public let vault: Vault
    /// Distributes committed events to their subscribers.
    public let hub: Hub
    /// The executor of the tasks that follow the log; nil for the process's default pool.
    public let tasks: (any TaskExecutor)?
    /// Records traces; nil when nothing is traced.
    public let tracer: Tracer?
    /// The apps and API keys, readable without waiting.
    public let keyring: Keyring
    /// The event types of all apps, with the validators of their payloads.
    public let eventTypes: EventTypes
    /// The restrictions on writing and reading, readable without waiting.
    let accessCache: ChannelAccessCache
    /// Presence, participants of open channels, and typing users.
    public let presence: PresenceTracker
    /// The log of administrative operations.
    public let audit: AuditLog
    /// The stored answers to repeatable requests.
    public let answers: StoredAnswers
    let restrictionEnds: RestrictionExpiries
    let revokedTokens: RevokedTokens
    let unread: UnreadCounts
    let activity: ChannelActivity
    let pendingDeletions: PendingDeletions
    private let deletionCount = Atomic<UInt64>(0)
    private let groupObservers = Lock<[@Sendable (Revision) async -> Void]>([])

    /// Makes the service. Call `run(whenReady:)` to start it.
    ///
    /// - Parameters:
    ///   - board: the store of presence; nil to keep presence in this process.
    ///   - executor: the executor of the hub. Use the streaming loop, so that fan-out needs no switch of threads.
    ///   - tasks: the same executor for tasks. A waiting task resumes there; without it, it resumes by way of the
    ///     default pool.
    public init(
        engine: any Engine, presence store: (any PresenceStore)? = nil, limits: Limits = Limits(),
        clock: WallClock = .system, vault: Vault = Vault(), executor: any SerialExecutor,
        tasks: (any TaskExecutor)? = nil, tracer: Tracer? = nil
    ) {
        self.tracer = tracer
        self.engine = engine
        liveLimits = LiveLimits(limits)
        self.clock = clock
        self.vault = vault
        activity = ChannelActivity(engine: engine, limits: limits, clock: clock)
        hub = Hub(log: engine.log, executor: executor, turnTime: limits.hubTurn, activity: activity)
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
        audit = AuditLog(directory: engine.directory, clock: clock, limits: liveLimits)
        answers = StoredAnswers(directory: engine.directory, clock: clock, window: limits.repeatWindow)
        presence = PresenceTracker(
            engine: engine, store: store ?? MemoryPresenceStore(limits: limits), accessCache: accessCache,
            limits: limits,
            clock: clock)
    }

    /// The current limits.
    public var limits: Limits { liveLimits.current }

    /// The number of deletions of events on this node. Code that caches events briefly uses it to detect that its cache
    /// is outdated.
    public var deletions: UInt64 { deletionCount.load(ordering: .acquiring) }

    func countDeletion() { deletionCount.add(1, ordering: .releasing) }

    /// Returns the app as `caller` may use it. Cheap; reads no storage.
    ///
    /// - Parameters:
    ///   - device: the device the request came from, if it names one.
    ///   - cause: the request's id.
    public func chat(for caller: Caller, device: String? = nil, cause: String? = nil) -> ChatAccess {
        var chat = ChatAccess(service: self, caller: caller)
        chat.device = device
        chat.cause = cause
        return chat
    }

    /// Encrypts the stored secrets again with the vault's first key. Must be called before `run`.
    ///
    /// - Returns: the number of records that were rewritten.
    /// - Throws: `.unavailable` when a secret was encrypted with a key that is missing.
    public func resealSecrets() async throws(ChatError) -> Int {
        try await SecretReencryption(directory: engine.directory, vault: vault).run()
    }

    /// Loads keys and event types and starts the hub. Returns when cancelled or when the engine closes.
    ///
    /// - Parameter whenReady: called once, when committed events reach subscribers.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let revision = try await keyring.load()
            try await applyRetentions()
            group.addTask { await self.keyring.follow(from: revision) }
            let typesRevision = try await eventTypes.load()
            group.addTask { await self.eventTypes.follow(from: typesRevision) }
            group.addTask { await self.eventTypes.reportViolations() }
            let tokensRevision = try await revokedTokens.load()
            group.addTask { await self.revokedTokens.follow(from: tokensRevision) }
            let sweepsRevision = try await pendingDeletions.load(keyring.apps.map(\.id))
            group.addTask { await self.pendingDeletions.follow(from: sweepsRevision) }
            group.addTask { await self.keepSweeping() }
            group.addTask { await self.keepGleaning() }
            group.addTask { await self.keepLogsSmall() }
            try await accessCache.load()
            group.addTask { await self.presence.run() }
            group.addTask { await self.unread.run() }
            group.addTask { await self.unread.runReports() }
            group.addTask { await self.activity.runReports() }
            try await restrictionEnds.load()
            group.addTask { await self.endRestrictions() }
            try await withTaskExecutorPreference(tasks) { try await hub.run(whenReady: whenReady) }
            group.cancelAll()
        }
    }

    /// Reads records, decides and writes in one step; see `Directory.decide`. The changes take effect on this node
    /// before this returns.
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
        let keys = decided.changes.map(\.key)
        if keys.contains(where: { $0.kind == .membership || $0.kind == .channel }) { await unread.changed(keys) }
        if keys.contains(where: { $0.kind == .group }) { await groupsChanged() }
        return decided
    }

    /// Runs a decision. When the request in progress is repeatable, the note that it was carried out is part of the
    /// same commit.
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

    /// Registers an observer of changed channel groups. It is called after a change with a revision that covers it, and
    /// the response to the change waits for it. So a client that follows groups follows the new channels before the
    /// change is confirmed.
    public func observeGroups(_ body: @escaping @Sendable (Revision) async -> Void) {
        groupObservers.withLock { $0.append(body) }
    }

    private func groupsChanged() async {
        // Without a revision, the observers learn of the change a moment later, like of changes made on other nodes.
        guard let revision = try? await engine.directory.revision() else { return }
        for observer in groupObservers.withLock({ $0 }) { await observer(revision) }
    }

    /// Reports an event of the gateway itself to the operators of an app, on the channel `$system`.
    ///
    /// - Throws: `.invalid` when the data does not match the type's schema in the catalogue; what `EventLog.append`
    ///   throws.
    public func report(_ type: String, data: JSONText, in app: AppID) async throws(ChatError) {
        try eventTypes.admit(report: type, data)
        let draft = EventDraft(
            channel: ChannelID(ChannelID.systemName, in: app), type: type, kind: .other, data: data)
        _ = try await engine.log.append([draft], claim: nil)
    }
}

/// Limits that an operator may replace while they are in use. A reader follows one pointer, without a lock.
///
/// Earlier limits are kept until the end, because a reader may still use them: some hundred bytes for each time the
/// settings are reloaded.
public final class LiveLimits: Sendable {
    private final class RecordEdition: Sendable {
        let limits: Limits
        let before: RecordEdition?

        init(_ limits: Limits, after before: RecordEdition?) {
            self.limits = limits
            self.before = before
        }
    }

    /// Holds one reference, which is released in `deinit`.
    private let newest: Atomic<Unmanaged<RecordEdition>>

    /// The limits in force until they are replaced.
    init(_ limits: Limits) {
        newest = Atomic(.passRetained(RecordEdition(limits, after: nil)))
    }

    deinit { newest.load(ordering: .acquiring).release() }

    /// The current limits.
    public var current: Limits {
        newest.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.limits }
    }

    /// Replaces the limits for all later reads. Must not be called concurrently.
    public func replace(by limits: Limits) {
        // The reference that `newest` held passes to the new edition.
        let before = newest.load(ordering: .acquiring).takeRetainedValue()
        newest.store(.passRetained(RecordEdition(limits, after: before)), ordering: .releasing)
    }
}
