public import ChatModel
import Locking
import Synchronization

/// The log of the administrative operations in each app, with the time, the caller and the network address.
public final class AuditLog: Sendable {
    /// The maximum rate of rejected operations that are logged. The rate limits the number of entries that attackers
    /// can cause. There is one limit for all callers without a valid credential, and another limit for the callers of
    /// each app. So an attacker who guesses keys cannot hide the rejected operations of an app's own callers.
    private static let refusals = RatePolicy(1000, in: .seconds(3600))

    private let directory: any Directory
    private let clock: WallClock
    private let liveLimits: LiveLimits
    private let unauthenticatedRate = RateMeter(AuditLog.refusals)
    /// The meter of each app's rejected operations, created at the app's first rejected operation.
    private let callers = Lock<[AppID: RateMeter]>([:])
    private let lost = Atomic<UInt64>(0)
    /// The number of entries written since the last sweep.
    private let unswept = Atomic<Int>(0)

    init(directory: any Directory, clock: WallClock, limits: LiveLimits) {
        self.directory = directory
        self.clock = clock
        liveLimits = limits
    }

    private var limits: Limits { liveLimits.current }

    /// The number of entries that were not written: rejected operations above the maximum rate, and entries that the
    /// store rejected.
    public var lostEntries: UInt64 { lost.load(ordering: .relaxed) }

    /// Returns the entry of an operation that is about to be executed. Bind the entry to `PendingAuditEntry.current`
    /// during the operation. After the operation, call the entry's method `conclude`.
    public func begin(_ operation: AuditOperation, in app: AppID) -> PendingAuditEntry {
        PendingAuditEntry(self, operation, in: app)
    }

    func change(
        _ operation: AuditOperation, in app: AppID, resource: String? = nil, refusal: String? = nil
    ) -> RecordChange {
        unswept.add(1, ordering: .relaxed)
        let entry = AuditEntry(operation, at: clock.now, resource: operation.resource ?? resource, refusal: refusal)
        return RecordChange(RecordKey(.audit, entry.id, in: app), body: entry.body)
    }

    private func meter(of operation: AuditOperation, in app: AppID) -> RateMeter {
        guard operation.actor != nil else { return unauthenticatedRate }
        return callers.withLock { meters in
            if let meter = meters[app] { return meter }
            let meter = RateMeter(Self.refusals)
            meters[app] = meter
            return meter
        }
    }

    /// Writes an entry in a commit of its own. The operation is already finished, so an entry that cannot be written is
    /// only counted in ``lostEntries``.
    public func write(
        _ operation: AuditOperation, in app: AppID, resource: String? = nil, refusal: String? = nil
    ) async {
        if refusal != nil, meter(of: operation, in: app).consume(1, at: clock.now) != nil {
            lost.add(1, ordering: .relaxed)
            return
        }
        do throws(ChatError) {
            _ = try await directory.write([change(operation, in: app, resource: resource, refusal: refusal)])
        } catch {
            lost.add(1, ordering: .relaxed)
        }
    }
}

extension AuditLog {
    /// A selection of the entries to list, newest first by default.
    public struct Query: Sendable {
        /// The id of the credential; nil for any credential.
        public var actor: String?
        /// An action, or all actions on a kind of resource, such as `key.*`; nil for any action.
        public var action: String?
        /// The id of the key or other resource; nil for any resource.
        public var resource: String?
        /// The result: `done` or `refused`; nil for both.
        public var result: String?
        /// The options of the list. Its time bounds apply to the times of the entries.
        public var list: RecordList

        /// Creates a query for all entries within the bounds of a list.
        public init(_ list: RecordList) { self.list = list }
    }

    /// Returns one page of an app's entries.
    ///
    /// - Throws: `.forbidden` without the scope `admin`; `.malformed` for a bad query; the errors of the store.
    public func entries(_ query: Query, by caller: Caller) async throws(ChatError) -> Page<AuditEntry> {
        try caller.require(.admin)
        var records = RecordQuery(.audit, in: caller.app, limit: query.list.limit)
        records.sort = [(.id, false)]
        records.filter = query.filter
        // `query.filter` already contains the time bounds, as bounds of the ids.
        var list = query.list
        (list.after, list.before) = (nil, nil)
        return try await list.page(of: records, in: directory, limits: limits, created: \.at) { records in
            records.map { AuditEntry($0) }
        }
    }

    /// A filter for entries that may be frequent: routine operations of programs, and rejected operations. If the log
    /// has too many entries, the entries that this filter selects are removed first. Otherwise an attacker who guesses
    /// keys, or a caller who creates tokens, could displace the other operations from the log.
    private static let frequent = RecordFilter.or(
        ["session.create", "token.create", "token.grant", "token.revoke"].map {
            .compare(field: "action", .equal, .string($0))
        } + [.compare(field: "result", .equal, .string("refused"))])

    /// True when more than a tenth of the maximum number of entries was written since the last sweep.
    var isDue: Bool { unswept.load(ordering: .relaxed) > limits.auditEntries / 10 }

    /// Removes the entries of an app that are older than `Limits.auditKept`. If more than `Limits.auditEntries` entries
    /// remain, also removes the oldest ones: first those that ``frequent`` selects, then any others.
    func sweep(_ app: AppID) async throws(ChatError) {
        unswept.store(0, ordering: .relaxed)
        let edge = AuditEntry.id(clock.now.adding(.zero - limits.auditKept))
        try await remove(in: app) { oldest in oldest.prefix { $0.key.id < edge } }
        for filter in [Self.frequent, nil] {
            try await remove(of: filter, in: app) { oldest async throws(ChatError) in
                // Counted after the entries are read: if another node removes entries meanwhile, too few are removed
                // here, and never too many.
                var query = RecordQuery(.audit, in: app, limit: 1)
                query.wantsTotal = true
                return oldest.prefix(max(0, (try await directory.list(query).total ?? 0) - limits.auditEntries))
            }
        }
    }

    /// Removes the oldest entries that a filter selects. Entries are read in pages; each page is removed in its own
    /// commit.
    ///
    /// - Parameter choose: returns the entries of a page to remove. Entries are removed until it leaves one out.
    private func remove(
        of filter: RecordFilter? = nil, in app: AppID,
        _ choose: (_ oldest: [Record]) async throws(ChatError) -> ArraySlice<Record>
    ) async throws(ChatError) {
        while !Task.isCancelled {
            var query = RecordQuery(.audit, in: app, limit: limits.pageMost)
            query.filter = filter
            let page = try await directory.list(query)
            let doomed = try await choose(page.items)
            guard !doomed.isEmpty else { return }
            _ = try await directory.write(doomed.map { RecordChange($0.key, body: nil) })
            guard doomed.count == page.items.count, page.hasMore else { return }
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
        // An id begins with its timetoken and a dash. The character `~` sorts after any character that may follow the
        // dash.
        if let after = list.after {
            parts.append(.compare(field: "@id", .greater, .string(AuditEntry.id(after) + "~")))
        }
        if let before = list.before { parts.append(.compare(field: "@id", .less, .string(AuditEntry.id(before)))) }
        return parts.isEmpty ? nil : .and(parts)
    }
}

extension ChatService {
    /// Limits the sizes of the audit log and of the stored responses of all apps, until cancelled. Runs every hour, and
    /// within a minute after many new audit entries. Also writes the times of the last uses of keys every minute.
    func keepLogsSmall() async {
        while !Task.isCancelled {
            // An error is ignored; the next run tries again.
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

/// The audit entry of an operation that is being executed. Code that writes records for the operation adds the entry to
/// its commit.
///
/// The entry is bound to the task-local value ``current``, so that modules need not pass the entry to each other.
public final class PendingAuditEntry: Sendable {
    /// The entry of the operation that the current task executes; nil when there is none.
    @TaskLocal public static var current: PendingAuditEntry?

    private let log: AuditLog
    private let app: AppID
    private let operation: AuditOperation
    private let isWritten = Lock(false)

    init(_ log: AuditLog, _ operation: AuditOperation, in app: AppID) {
        self.log = log
        self.operation = operation
        self.app = app
    }

    /// Returns the change that stores the entry of the current operation, to add to the commit of `changes`. Nil when
    /// there is no current operation, when its entry is already stored, or when `changes` is empty.
    static func change(beside changes: [RecordChange]) -> RecordChange? {
        guard let pending = current, let first = changes.first else { return nil }
        let isFirst = pending.isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        return isFirst ? pending.log.change(pending.operation, in: pending.app, resource: first.key.id) : nil
    }

    /// Marks the entry as not stored, because the commit that contained it failed.
    static func retract() { current?.isWritten.withLock { $0 = false } }

    /// Ends the operation, and writes its entry if no commit contained the entry. No commit contains the entry of an
    /// operation that changed no record or was rejected.
    ///
    /// - Parameters:
    ///   - resource: the id of the resource, when it was not known before the operation.
    ///   - refusal: the error code of a rejected operation; nil for an operation that was executed.
    public func conclude(resource: String?, refusal: String? = nil) async {
        let isFirst = isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        guard isFirst else { return }
        await log.write(operation, in: app, resource: resource, refusal: refusal)
    }
}
