public import ChatModel
public import JSON
import Locking
public import Signing
import Synchronization

/// The chat of one gateway process: what all apps share. Interfaces take a `ChatAccess` from it per request.
public final class ChatService: Sendable {
    public let engine: any Engine
    /// May be exchanged while the service runs; what was sized by them at the start stays as it is.
    public let liveLimits: LiveLimits
    public let clock: WallClock
    /// Seals the secrets that are stored; whoever stores one asks it.
    public let vault: Vault
    /// Where committed events meet their subscribers.
    public let hub: Hub
    /// Where tasks that follow the log run; nil: on the pool of the process.
    public let tasks: (any TaskExecutor)?
    /// What is traced; nil: nothing.
    public let tracer: Tracer?
    /// Apps and API keys, readable without waiting.
    public let keyring: Keyring
    /// The event types of all apps, and the gate their payloads pass.
    public let eventTypes: EventTypes
    /// What holds users back from writing and hearing, readable without waiting.
    public let accessCache: ChannelAccessCache
    /// Who is where: presence, participants of open channels, who types.
    public let presence: PresenceTracker
    /// What was changed by administration.
    public let audit: AuditLog
    /// The answers to repeatable requests.
    public let answers: StoredAnswers
    let restrictionEnds: RestrictionExpiries
    let revokedTokens: RevokedTokens
    let unread: UnreadCounts
    let activity: ChannelActivity
    let pendingDeletions: PendingDeletions
    private let deletionCount = Atomic<UInt64>(0)
    private let groupObservers = Lock<[@Sendable (Revision) async -> Void]>([])

    /// - Parameter board: who is where; nil: kept in this process.
    /// - Parameter executor: runs the hub; the streaming loop, so that fan-out needs no hop between threads.
    /// - Parameter tasks: the same place for tasks: a waiting one resumes there, and by way of the pool without.
    public init(
        engine: any Engine, presence board: (any PresenceStore)? = nil, limits: Limits = Limits(),
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
            engine: engine, board: board ?? MemoryPresenceStore(limits: limits), accessCache: accessCache,
            limits: limits,
            clock: clock)
    }

    /// The limits now.
    public var limits: Limits { liveLimits.current }

    /// How often events were deleted here: who keeps events in memory for a moment looks whether that is still true.
    public var deletions: UInt64 { deletionCount.load(ordering: .acquiring) }

    func noteDeletion() { deletionCount.add(1, ordering: .releasing) }

    /// The app as `caller` may see it. Costs nothing.
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

    /// Brings the stored secrets under the vault's first key; before `run`.
    ///
    /// - Returns: how many records were written again.
    /// - Throws: `.unavailable` when a secret was sealed with a key that is missing.
    public func resealSecrets() async throws(ChatError) -> Int {
        try await SecretReencryption(directory: engine.directory, vault: vault).run()
    }

    /// Loads keys and event types and starts the hub; returns when cancelled or when the engine closes.
    ///
    /// - Parameter whenReady: called once, when committed events reach subscribers.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let revision = try await keyring.load()
            try await settleRetentions()
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
            group.addTask { await self.unread.keepTelling() }
            group.addTask { await self.activity.keepTelling() }
            try await restrictionEnds.load()
            group.addTask { await self.endRestrictions() }
            try await withTaskExecutorPreference(tasks) { try await hub.run(whenReady: whenReady) }
            group.cancelAll()
        }
    }

    /// Reads records, decides and writes in one step; see `Directory.decide`. What has changed counts on this node when
    /// it returns.
    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        let decided =
            if let tracer {
                try await tracer.traced("store commit") { () async throws(ChatError) in
                    try await decideNoted(keys, body)
                }
            } else { try await decideNoted(keys, body) }
        pendingDeletions.note(decided.changes)
        let keys = decided.changes.map(\.key)
        if keys.contains(where: { $0.kind == .membership || $0.kind == .channel }) { await unread.changed(keys) }
        if keys.contains(where: { $0.kind == .group }) { await groupsChanged() }
        return decided
    }

    /// Writes the note that the request under way was carried out beside what it changes, if there is one.
    private func decideNoted<Value: Sendable>(
        _ keys: [RecordKey],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        guard let note = PendingAnswer.change() else { return try await engine.directory.decide(keys, body) }
        do throws(ChatError) {
            let decided = try await engine.directory.decide(keys) { snapshot throws(ChatError) in
                var decision = try body(snapshot)
                if !decision.changes.isEmpty || !decision.events.isEmpty { decision.changes.append(note) }
                return decision
            }
            if decided.changes.isEmpty { PendingAnswer.takeBack() }
            return decided
        } catch {
            PendingAnswer.takeBack()
            throw error
        }
    }

    /// Calls `body` after a change of channel groups with a revision that covers it, and waits for it before the change is
    /// answered: who follows groups follows the new ones by the time anybody may say something on their channels.
    public func observeGroups(_ body: @escaping @Sendable (Revision) async -> Void) {
        groupObservers.withLock { $0.append(body) }
    }

    private func groupsChanged() async {
        // Without it they are told a moment later, as of changes made elsewhere.
        guard let revision = try? await engine.directory.revision() else { return }
        for observer in groupObservers.withLock({ $0 }) { await observer(revision) }
    }

    /// Tells the operators of an app that something happened to the gateway itself: an event on `$system`.
    ///
    /// - Throws: `.invalid` when the data is not what the catalogue says of the type; what `EventLog.append` throws.
    public func report(_ type: String, data: JSONText, in app: AppID) async throws(ChatError) {
        try eventTypes.admit(report: type, data)
        let draft = EventDraft(
            channel: ChannelID(ChannelID.systemName, in: app), type: type, kind: .other, data: data)
        _ = try await engine.log.append([draft], claim: nil)
    }
}

/// Limits that an operator may exchange while they are read everywhere: a reader follows one pointer, without a lock.
///
/// Those that were in force before are kept until the end, because a reader may still be at them: some hundred bytes for
/// each time the settings are read again.
public final class LiveLimits: Sendable {
    private final class RecordEdition: Sendable {
        let limits: Limits
        let before: RecordEdition?

        init(_ limits: Limits, after before: RecordEdition?) {
            self.limits = limits
            self.before = before
        }
    }

    /// Holds one reference, which is let go of at the end.
    private let newest: Atomic<Unmanaged<RecordEdition>>

    public init(_ limits: Limits) {
        newest = Atomic(.passRetained(RecordEdition(limits, after: nil)))
    }

    deinit { newest.load(ordering: .acquiring).release() }

    /// The limits now.
    public var current: Limits {
        newest.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.limits }
    }

    /// Makes others count, from the next question on. For one caller at a time.
    public func replace(by limits: Limits) {
        // The reference that `newest` held is the one the new edition keeps.
        let before = newest.load(ordering: .acquiring).takeRetainedValue()
        newest.store(.passRetained(RecordEdition(limits, after: before)), ordering: .releasing)
    }
}
