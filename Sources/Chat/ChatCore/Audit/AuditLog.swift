public import ChatModel
import Locking
import Synchronization

/// The log of administrative operations in every app: time, caller and network address.
public final class AuditLog: Sendable {
    /// The maximum rate of stored refusals: for all callers without a valid credential together, and for the callers of
    /// each app. It keeps refusals visible without letting them fill the store. The two are separate, so that an
    /// attacker who guesses keys cannot hide what an app's callers try.
    private static let refusals = RatePolicy(1000, in: .seconds(3600))

    private let directory: any Directory
    private let clock: WallClock
    private let liveLimits: LiveLimits
    private let unauthenticatedRate = RateMeter(AuditLog.refusals)
    /// Added when an app has its first refusal.
    private let callers = Lock<[AppID: RateMeter]>([:])
    private let lost = Atomic<UInt64>(0)
    /// Entries written since the last sweep.
    private let unswept = Atomic<Int>(0)

    init(directory: any Directory, clock: WallClock, limits: LiveLimits) {
        self.directory = directory
        self.clock = clock
        liveLimits = limits
    }

    private var limits: Limits { liveLimits.current }

    /// The number of missing entries: refusals beyond the maximum rate, and entries that the store did not accept.
    public var lostEntries: UInt64 { lost.load(ordering: .relaxed) }

    /// Returns the pending entry of an operation that is about to be carried out. Bind it with
    /// `PendingAuditEntry.$current` during the operation, then conclude it.
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

    /// Writes an entry on its own. The operation is already done, so a failure is only counted.
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
    /// Selects the entries to list, newest first unless requested otherwise.
    public struct Query: Sendable {
        /// The id of the credential.
        public var actor: String?
        /// An action, or all actions of a subject: `key.*`.
        public var action: String?
        /// The key or other resource that was operated on.
        public var resource: String?
        /// `done` or `refused`.
        public var result: String?
        /// The times in this list are those of the entries.
        public var list: RecordList

        /// Selects all entries of a list.
        public init(_ list: RecordList) { self.list = list }
    }

    /// Returns a page of an app's entries.
    ///
    /// - Throws: `.forbidden` without the scope `admin`; `.malformed` for a bad query; the errors of the store.
    public func entries(_ query: Query, by caller: Caller) async throws(ChatError) -> Page<AuditEntry> {
        try caller.require(.admin)
        var records = RecordQuery(.audit, in: caller.app, limit: query.list.limit)
        records.sort = [(.id, false)]
        records.filter = query.filter
        // The ids contain the times, so `query.filter` covers both bounds.
        var list = query.list
        (list.after, list.before) = (nil, nil)
        return try await list.page(of: records, in: directory, limits: limits, created: \.at) { records in
            records.map { AuditEntry($0) }
        }
    }

    /// Frequent entries: routine operations of programs, and refusals. When there are too many entries these are
    /// removed first. Otherwise an attacker who guesses keys, or a caller who may make tokens, could push other
    /// operations out of the log.
    private static let frequent = RecordFilter.or(
        ["session.create", "token.create", "token.grant", "token.revoke"].map {
            .compare(field: "action", .equal, .string($0))
        } + [.compare(field: "result", .equal, .string("refused"))])

    /// True when the entries since the last sweep exceed a tenth of the maximum.
    var isDue: Bool { unswept.load(ordering: .relaxed) > limits.auditEntries / 10 }

    /// Removes entries that are too old or beyond the maximum number.
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

    /// Removes the oldest entries, one page in each step.
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
        // Ids begin with their timetoken and a dash, and `~` sorts after everything that may follow the dash.
        if let after = list.after {
            parts.append(.compare(field: "@id", .greater, .string(AuditEntry.id(after) + "~")))
        }
        if let before = list.before { parts.append(.compare(field: "@id", .less, .string(AuditEntry.id(before)))) }
        return parts.isEmpty ? nil : .and(parts)
    }
}

extension ChatService {
    /// Keeps the audit log and the stored answers of every app within their bounds until cancelled: once an hour, and
    /// within a minute of many entries. Writes the last uses of keys once a minute when there are new ones.
    func keepLogsSmall() async {
        while !Task.isCancelled {
            // A part of the store that fails now is retried the next time.
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

/// The audit entry of an operation in progress. The code that writes records for the operation adds the entry to the
/// same commit.
///
/// It is a task-local value, because it concerns every module that writes and no particular one.
public final class PendingAuditEntry: Sendable {
    /// The entry of the operation that the current task carries out; nil when there is none.
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

    /// The entry as a further change of a commit; nil when no operation is in progress, or when its entry is already
    /// written.
    static func change(beside changes: [RecordChange]) -> RecordChange? {
        guard let pending = current, let first = changes.first else { return nil }
        let isFirst = pending.isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        return isFirst ? pending.log.change(pending.operation, in: pending.app, resource: first.key.id) : nil
    }

    /// Marks the entry as not written, because the commit that contained it failed.
    static func retract() { current?.isWritten.withLock { $0 = false } }

    /// Writes the entry unless it is written already: when the operation changed no record, or was refused.
    ///
    /// - Parameter resource: the resource of the operation, when it is known only now.
    public func conclude(resource: String?, refusal: String? = nil) async {
        let isFirst = isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        guard isFirst else { return }
        await log.write(operation, in: app, resource: resource, refusal: refusal)
    }
}
