public import ChatModel
import Locking

/// Keeps a module's in-memory copy of directory records up to date, so that requests are answered without waiting for
/// the store.
///
/// The module owns its tables and passes in `apply`, which takes the current state of one record, or nil when it was
/// removed. Reading, following and writing all use the mirror, because together they race: a write may run its `apply`
/// after that of a later write, and would then restore a deleted key permanently. So each `apply` is a *turn*, and a
/// record that was read or written before the last turn is read again instead of applied. The newest state of a record
/// always has a turn after its commit: that of its writer, or that of the change reported by the directory.
public final class RecordMirror: Sendable {
    /// Applies the current state of a record. Calls are serialized. It must be quick, and must not call the mirror.
    public typealias Apply = (_ key: RecordKey, _ record: Record?) -> Void

    private let kinds: Set<RecordKind>
    private let directory: any Directory
    private let pause: Duration
    private let turns = Lock<UInt64>(0)

    /// - Parameters:
    ///   - kinds: the kinds of records that are held; changes of other records are ignored.
    ///   - pause: the time between two attempts to read a record that cannot be read.
    public init(_ kinds: Set<RecordKind>, of directory: any Directory, pause: Duration = .milliseconds(200)) {
        self.kinds = kinds
        self.directory = directory
        self.pause = pause
    }

    /// Applies every record of a kind in an app. Ask the directory for its revision before, and call `follow` from that
    /// revision, which reports the changes made meanwhile.
    ///
    /// - Throws: what the directory throws.
    public func load(_ kind: RecordKind, in app: AppID, _ apply: Apply) async throws(ChatError) {
        try await directory.forEachPage(RecordQuery(kind, in: app, limit: 500)) { records in
            turns.withLock { turn in
                turn += 1
                for record in records { apply(record.key, record) }
            }
        }
    }

    /// Applies the changes after a revision, made on any node, until cancelled or until the engine closes.
    ///
    /// A record that cannot be read is retried until it can be read, because giving up would leave a revoked key valid.
    ///
    /// - Parameters:
    ///   - isUnreadable: called once for a record that cannot be read at the first attempt.
    ///   - afterwards: asynchronous work that follows a change.
    public func follow(
        from revision: Revision, _ apply: Apply, isUnreadable: (RecordKey, ChatError) -> Void = { _, _ in },
        afterwards: (RecordKey) async -> Void = { _ in }
    ) async {
        for await changes in await directory.changes(after: revision) {
            for key in changes.keys where kinds.contains(key.kind) {
                var isKnown = false
                while !Task.isCancelled {
                    do {
                        try await refresh(key, apply)
                        break
                    } catch {
                        if !isKnown { isUnreadable(key, error) }
                        isKnown = true
                        // The loop's condition checks for cancellation.
                        try? await Task.sleep(for: pause)
                    }
                }
                await afterwards(key)
            }
        }
    }

    /// Writes to the directory, and applies the written records of the mirror's kinds. They take effect before this
    /// returns.
    ///
    /// - Throws: what the directory throws; `.outcomeUnknown` when the write was overtaken and the record cannot be
    ///   read again. The record is stored in that case and takes effect once `follow` has read it, but the caller must
    ///   not report that it has taken effect.
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
            for (change, _) in written { try await refresh(change.key, apply) }
        } catch {
            throw ChatError(
                .outcomeUnknown, "the change is stored, but may not be in effect yet: \(error.message)",
                retryAfter: .seconds(1))
        }
        return records
    }

    /// Writes the changes. The audit entry of the operation in progress, and the note that its request was carried out,
    /// are part of the same commit, if there are any.
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
    /// - Throws: what the directory throws.
    public func refresh(_ key: RecordKey, _ apply: Apply) async throws(ChatError) {
        while true {
            let turn = turns.withLock { $0 }
            let record = try await directory.read(key)
            if runIfCurrent(turn, { apply(key, record) }) { return }
        }
    }

    /// Runs `body` unless there was another turn since `turn`. Returns true when it ran.
    private func runIfCurrent(_ turn: UInt64, _ body: () -> Void) -> Bool {
        turns.withLock { now in
            guard now == turn else { return false }
            now += 1
            body()
            return true
        }
    }
}
