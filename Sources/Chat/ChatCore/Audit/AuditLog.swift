public import ChatModel
import Locking
import Synchronization

/// What was changed by administration, in every app: when, by whom, from where.
public final class AuditLog: Sendable {
    /// Refusals of all strangers together, and those of the callers of each app: they are to be seen, not to fill the store.
    /// Apart from each other, so that nobody who guesses keys hides what an app's callers try.
    private static let refusals = RatePolicy(1000, in: .seconds(3600))

    private let directory: any Directory
    private let clock: WallClock
    private let liveLimits: LiveLimits
    private let strangers = RateMeter(AuditLog.refusals)
    /// Made as apps have refusals.
    private let callers = Lock<[AppID: RateMeter]>([:])
    private let lost = Atomic<UInt64>(0)
    /// Entries made since the log was last swept.
    private let unswept = Atomic<Int>(0)

    init(directory: any Directory, clock: WallClock, limits: LiveLimits) {
        self.directory = directory
        self.clock = clock
        liveLimits = limits
    }

    private var limits: Limits { liveLimits.current }

    /// Entries that are missing: refusals beyond what is kept of them, and what the store did not take.
    public var lostEntries: UInt64 { lost.load(ordering: .relaxed) }

    /// A deed that is about to be done; bind it with `PendingAuditEntry.$current` while it is, then conclude it.
    public func begin(_ deed: AuditOperation, in app: AppID) -> PendingAuditEntry {
        PendingAuditEntry(self, deed, in: app)
    }

    func change(
        _ deed: AuditOperation, in app: AppID, resource: String? = nil, refusal: String? = nil
    ) -> RecordChange {
        unswept.add(1, ordering: .relaxed)
        let entry = AuditEntry(deed, at: clock.now, resource: deed.resource ?? resource, refusal: refusal)
        return RecordChange(RecordKey(.audit, entry.id, in: app), body: entry.body)
    }

    private func meter(of deed: AuditOperation, in app: AppID) -> RateMeter {
        guard deed.actor != nil else { return strangers }
        return callers.withLock { meters in
            if let meter = meters[app] { return meter }
            let meter = RateMeter(Self.refusals)
            meters[app] = meter
            return meter
        }
    }

    /// Writes an entry by itself. What was done is done, so a failure is only counted.
    public func write(
        _ deed: AuditOperation, in app: AppID, resource: String? = nil, refusal: String? = nil
    ) async {
        if refusal != nil, meter(of: deed, in: app).take(1, at: clock.now) != nil {
            lost.add(1, ordering: .relaxed)
            return
        }
        do throws(ChatError) {
            _ = try await directory.write([change(deed, in: app, resource: resource, refusal: refusal)])
        } catch {
            lost.add(1, ordering: .relaxed)
        }
    }
}

extension AuditLog {
    /// Which entries to list, the newest first unless asked otherwise.
    public struct Query: Sendable {
        public var actor: String?
        /// An action, or all of a subject: `key.*`.
        public var action: String?
        public var resource: String?
        /// `done` or `refused`.
        public var result: String?
        /// Its times are those of the entries.
        public var list: RecordList

        public init(_ list: RecordList) { self.list = list }
    }

    /// A page of an app's entries; for its admins.
    public func entries(_ query: Query, by caller: Caller) async throws(ChatError) -> Page<AuditEntry> {
        try caller.demand(.admin)
        var records = RecordQuery(.audit, in: caller.app, limit: query.list.limit)
        records.sort = [(.id, false)]
        records.filter = query.filter
        // The ids hold the times.
        var list = query.list
        (list.after, list.before) = (nil, nil)
        return try await list.page(of: records, in: directory, limits: limits, created: \.at) { records in
            records.map { AuditEntry($0) }
        }
    }

    /// What programs do as they work, and what was refused. Of what is too much it goes first, or who guesses keys, or may
    /// make tokens, could push out of the log what else was done.
    private static let frequent = RecordFilter.or(
        ["session.create", "token.create", "token.grant", "token.revoke"].map {
            .compare(field: "action", .equal, .string($0))
        } + [.compare(field: "result", .equal, .string("refused"))])

    /// Whether the log may have grown by a tenth of what it holds since it was swept.
    var isDue: Bool { unswept.load(ordering: .relaxed) > limits.auditEntries / 10 }

    /// Removes what is too old or too much.
    func sweep(_ app: AppID) async throws(ChatError) {
        unswept.store(0, ordering: .relaxed)
        let edge = AuditEntry.id(clock.now.adding(.zero - limits.auditKept))
        try await remove(.max, in: app, olderThan: edge)
        for filter in [Self.frequent, nil] {
            var query = RecordQuery(.audit, in: app, limit: 1)
            query.wantsTotal = true
            let surplus = (try await directory.list(query).total ?? 0) - limits.auditEntries
            guard surplus > 0 else { return }
            try await remove(surplus, of: filter, in: app)
        }
    }

    /// Removes the oldest entries, a page in each step.
    private func remove(
        _ most: Int, of filter: RecordFilter? = nil, in app: AppID, olderThan edge: String? = nil
    ) async throws(ChatError) {
        var left = most
        while left > 0, !Task.isCancelled {
            var query = RecordQuery(.audit, in: app, limit: min(left, limits.pageMost))
            query.filter = filter
            let page = try await directory.list(query)
            let doomed = page.items.prefix { record in edge.map { record.key.id < $0 } ?? true }
            guard !doomed.isEmpty else { return }
            _ = try await directory.write(doomed.map { RecordChange($0.key, body: nil) })
            guard doomed.count == page.items.count, page.hasMore else { return }
            left -= doomed.count
        }
    }
}

extension AuditLog.Query {
    fileprivate var filter: RecordFilter? {
        var parts: [RecordFilter] = []
        if let actor { parts.append(.compare(field: "actor", .equal, .string(actor))) }
        if let resource { parts.append(.compare(field: "resource", .equal, .string(resource))) }
        if let result { parts.append(.compare(field: "result", .equal, .string(result))) }
        if let action {
            parts.append(.compare(field: "action", action.hasSuffix(".*") ? .like : .equal, .string(action)))
        }
        // Ids begin with their moment: whatever follows its dash is of that moment.
        if let after = list.after {
            parts.append(.compare(field: "@id", .greater, .string(AuditEntry.id(after) + "~")))
        }
        if let before = list.before { parts.append(.compare(field: "@id", .less, .string(AuditEntry.id(before)))) }
        return parts.isEmpty ? nil : .and(parts)
    }
}

extension ChatService {
    /// Keeps every app's audit log and remembered answers within their bounds until cancelled: once an hour, and within a minute
    /// of many entries. Writes once a minute when keys were used.
    func keepLogsSmall() async {
        while !Task.isCancelled {
            // What cannot be reached now is left for the next time.
            for app in keyring.apps {
                try? await audit.sweep(app.id)
                try? await answers.sweep(app.id)
            }
            var minutes = 0
            repeat {
                try? await Task.sleep(for: .seconds(60))
                await keyring.writeUses()
                minutes += 1
            } while minutes < 60 && !audit.isDue && !Task.isCancelled
        }
        await keyring.writeUses()
    }
}

/// A deed under way: whoever writes records for it takes the entry along, so that both are in one commit.
///
/// It travels with the task, as it concerns every room that writes and none of them in particular.
public final class PendingAuditEntry: Sendable {
    @TaskLocal public static var current: PendingAuditEntry?

    private let log: AuditLog
    private let app: AppID
    private let deed: AuditOperation
    private let isWritten = Lock(false)

    init(_ log: AuditLog, _ deed: AuditOperation, in app: AppID) {
        self.log = log
        self.deed = deed
        self.app = app
    }

    /// The entry as a change beside others; nil when there is no deed under way, or it has its entry.
    static func change(beside changes: [RecordChange]) -> RecordChange? {
        guard let note = current, let first = changes.first else { return nil }
        let isFirst = note.isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        return isFirst ? note.log.change(note.deed, in: note.app, resource: first.key.id) : nil
    }

    /// What was to be written beside the entry was not.
    static func takeBack() { current?.isWritten.withLock { $0 = false } }

    /// Writes the entry if nobody has: what was done changed no record, or was refused.
    ///
    /// - Parameter resource: what it was done to, where that is known only now.
    public func conclude(resource: String?, refusal: String? = nil) async {
        let isFirst = isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        guard isFirst else { return }
        await log.write(deed, in: app, resource: resource, refusal: refusal)
    }
}
