public import ChatModel
import Locking

/// Keeps a module's in-memory copy of directory records up to date, so that requests need not wait for the store.
///
/// The module has its own tables, and passes a function `apply` that stores the current state of one record in them.
/// Reading, following and writing must all use the mirror. Otherwise `apply` could run for an older write after it ran
/// for a newer write, and leave an outdated record in the tables. To prevent this, the mirror serializes and counts the
/// calls of `apply`. If another call of `apply` happens while a record is read or written, the mirror reads the record
/// again before it applies the record. After every commit, the newest state of the record is applied at least once: by
/// its writer, or when the directory of records reports the change.
public final class RecordMirror: Sendable {
    /// Stores the current state of a record in the module's tables; `record` is nil when the record was removed. The
    /// mirror runs one call at a time. A call must be quick, and must not call the mirror.
    public typealias Apply = (_ key: RecordKey, _ record: Record?) -> Void

    private let kinds: Set<RecordKind>
    private let directory: any Directory
    private let pause: Duration
    private let turns = Lock<UInt64>(0)
    private let progress = Lock(Progress())

    /// The progress of ``follow(from:_:isUnreadable:afterwards:)``, and the tasks that wait for it.
    private struct Progress {
        /// The revision up to which all changes are applied; nil while no task follows.
        var reached: Revision?
        var waiting: [UInt64: (revision: Revision, continuation: CheckedContinuation<Void, Never>)] = [:]
        var nextTicket: UInt64 = 0

        func isReached(_ revision: Revision) -> Bool { reached.map { $0 >= revision } ?? true }
    }

    /// The maximum number of records that are read at once.
    private static let readAtOnce = 500

    /// Creates a mirror.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of records to mirror. Changes of other records are ignored.
    ///   - pause: the time between two attempts to read a record.
    public init(_ kinds: Set<RecordKind>, of directory: any Directory, pause: Duration = .milliseconds(200)) {
        self.kinds = kinds
        self.directory = directory
        self.pause = pause
    }

    /// Calls `apply` with every record of one kind in an app. Read the revision of the directory of records before this
    /// call, and pass that revision to `follow` after this call. `follow` then also applies the changes that were made
    /// during the load.
    ///
    /// - Throws: the errors of the directory of records.
    public func load(_ kind: RecordKind, in app: AppID, _ apply: Apply) async throws(ChatError) {
        try await directory.forEachPage(RecordQuery(kind, in: app, limit: 500)) { records in
            turns.withLock { turn in
                turn += 1
                for record in records { apply(record.key, record) }
            }
        }
    }

    /// Calls `apply` with every record that changes after a revision of the directory of records, on any node. Returns
    /// when the task is cancelled or the engine closes.
    ///
    /// A read that fails is repeated until it succeeds, because giving up could leave a revoked key valid.
    ///
    /// - Parameters:
    ///   - isUnreadable: called once for each record whose first read fails.
    ///   - afterwards: called after each changed record was applied. Further changes are applied when `afterwards`
    ///     returns.
    public func follow(
        from revision: Revision, _ apply: Apply, isUnreadable: (RecordKey, ChatError) -> Void = { _, _ in },
        afterwards: (RecordKey) async -> Void = { _ in }
    ) async {
        advance(to: revision)
        defer { advance(to: nil) }
        for await changes in await directory.changes(after: revision) {
            var keys = changes.keys.filter { kinds.contains($0.kind) }[...]
            while !keys.isEmpty, !Task.isCancelled {
                let part = Array(keys.prefix(Self.readAtOnce))
                await refreshRepeatedly(part, apply, isUnreadable: isUnreadable)
                for key in part { await afterwards(key) }
                keys = keys.dropFirst(Self.readAtOnce)
            }
            advance(to: changes.revision)
        }
    }

    /// Refreshes records. Tries again until they can be read or the task is cancelled.
    private func refreshRepeatedly(
        _ keys: [RecordKey], _ apply: Apply, isUnreadable: (RecordKey, ChatError) -> Void
    ) async {
        var isKnown = false
        while !Task.isCancelled {
            do throws(ChatError) {
                return try await refresh(keys, apply)
            } catch {
                if !isKnown { for key in keys { isUnreadable(key, error) } }
                isKnown = true
                // If the task was cancelled, the loop's condition ends the loop.
                try? await Task.sleep(for: pause)
            }
        }
    }

    private func advance(to revision: Revision?) {
        let ready = progress.withLock { progress in
            progress.reached = revision
            let ready = progress.waiting.filter { progress.isReached($0.value.revision) }
            for ticket in ready.keys { progress.waiting[ticket] = nil }
            return ready.values.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Waits until ``follow(from:_:isUnreadable:afterwards:)`` has applied the changes of all nodes up to a revision.
    /// Returns early while no task follows, and when the waiting task is cancelled.
    public func reach(_ revision: Revision) async {
        let ticket = progress.withLock { progress in
            progress.nextTicket += 1
            return progress.nextTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = progress.withLock { progress in
                    guard !Task.isCancelled, !progress.isReached(revision) else { return true }
                    progress.waiting[ticket] = (revision, continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            progress.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume()
        }
    }

    /// Writes to the directory of records, and applies the written records of the mirror's kinds. These records take
    /// effect before this method returns.
    ///
    /// - Throws: the errors of the directory of records; `.outcomeUnknown` when another call of `apply` came first and
    ///   the record cannot be read again. The record is then stored, and takes effect when `follow` has read it. The
    ///   caller must not report that it has already taken effect.
    public func write(
        _ changes: [RecordChange], events: [EventDraft] = [], _ apply: Apply
    ) async throws(ChatError) -> [Record] {
        let turn = turns.withLock { $0 }
        let records = try await writeRecorded(changes, events)
        let written = zip(changes, records).filter { kinds.contains($0.0.key.kind) }
        let isApplied = runIfCurrent(turn) {
            for (change, record) in written { apply(change.key, change.body == nil ? nil : record) }
        }
        guard !isApplied else { return records }
        do throws(ChatError) {
            try await refresh(written.map(\.0.key), apply)
        } catch {
            throw ChatError(
                .outcomeUnknown, "the change is stored, but may not have taken effect yet: \(error.message)",
                retryAfter: .seconds(1))
        }
        return records
    }

    /// Writes the changes. The commit also contains the audit entry of the current operation, and the record of the
    /// current request's idempotency key, if there are any.
    private func writeRecorded(
        _ changes: [RecordChange], _ events: [EventDraft]
    ) async throws(ChatError) -> [Record] {
        let entry = PendingAuditEntry.change(beside: changes)
        let pending = PendingAnswer.change()
        let beside = [entry, pending].compactMap(\.self)
        do throws(ChatError) {
            return Array(try await directory.write(changes + beside, events: events).prefix(changes.count))
        } catch {
            if entry != nil { PendingAuditEntry.retract() }
            if pending != nil { PendingAnswer.retract() }
            throw error
        }
    }

    /// Reads a record and applies its current state.
    ///
    /// - Throws: the errors of the directory of records.
    public func refresh(_ key: RecordKey, _ apply: Apply) async throws(ChatError) { try await refresh([key], apply) }

    private func refresh(_ keys: [RecordKey], _ apply: Apply) async throws(ChatError) {
        while true {
            let turn = turns.withLock { $0 }
            let records = try await directory.read(keys)
            let isApplied = runIfCurrent(turn) {
                for (key, record) in zip(keys, records) { apply(key, record) }
            }
            if isApplied { return }
        }
    }

    /// Runs `body`, which calls `apply`, only if `apply` was not called since the counter of calls had the value
    /// `turn`. Returns true when `body` ran.
    private func runIfCurrent(_ turn: UInt64, _ body: () -> Void) -> Bool {
        turns.withLock { now in
            guard now == turn else { return false }
            now += 1
            body()
            return true
        }
    }
}
