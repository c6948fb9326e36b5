public import ChatModel
import Locking

/// Keeps what a room holds of the directory in memory in line with it, so that requests are answered without waiting for
/// the store.
///
/// The room keeps its tables as it likes and hands in `apply`, which takes one record as it is now, or nil when it was
/// removed. Reading, following and writing all pass here, because together they race: a write that was overtaken by a
/// later one may come to its `apply` after that, and would put a deleted key back for good. So each `apply` is a *turn*,
/// and whatever was read or written before the last turn is looked up again instead of applied. The newest state of a
/// record always has a turn after its commit: its writer's own, or that of the change told by the directory.
public final class RecordMirror: Sendable {
    /// Takes a record as it is now. Runs one at a time; must be quick, and must not come back to the mirror.
    public typealias Apply = (_ key: RecordKey, _ record: Record?) -> Void

    private let kinds: Set<RecordKind>
    private let directory: any Directory
    private let pause: Duration
    private let turns = Lock<UInt64>(0)

    /// - Parameters:
    ///   - kinds: what is held; changes of other records are not looked at.
    ///   - pause: between two attempts to read a record that cannot be read.
    public init(_ kinds: Set<RecordKind>, of directory: any Directory, pause: Duration = .milliseconds(200)) {
        self.kinds = kinds
        self.directory = directory
        self.pause = pause
    }

    /// Applies every record of a kind in a space. Ask the directory for its revision before, and `follow` from there:
    /// what changes meanwhile is then told again.
    public func load(_ kind: RecordKind, in app: AppID, _ apply: Apply) async throws(ChatError) {
        var query = RecordQuery(kind, in: app, limit: 500)
        while true {
            let page = try await directory.list(query)
            turns.withLock { turn in
                turn += 1
                for record in page.items { apply(record.key, record) }
            }
            guard let cursor = page.cursor else { return }
            query.cursor = cursor
        }
    }

    /// Applies what changes after a revision, on any node, until cancelled or until the engine closes.
    ///
    /// A record is read until it can be read: giving up would leave a revoked key in force.
    /// - Parameters:
    ///   - isUnreadable: called once for a record that cannot be read at once.
    ///   - afterwards: what follows from a change and has to wait for something.
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
                        // Cancellation shows at the loop's head.
                        try? await Task.sleep(for: pause)
                    }
                }
                await afterwards(key)
            }
        }
    }

    /// Writes to the directory, and applies what was written of the mirror's kinds: it counts when this returns.
    /// - Throws: what the directory throws; `.outcomeUnknown` when the write was overtaken and the record cannot be read
    ///   again. It is stored then and counts once `follow` has read it, but nobody may be told that it counts already.
    public func write(
        _ changes: [RecordChange], events: [EventDraft] = [], _ apply: Apply
    ) async throws(ChatError) -> [Record] {
        let turn = turns.withLock { $0 }
        let records = try await writeNoted(changes, events)
        let written = zip(changes, records).filter { kinds.contains($0.0.key.kind) }
        let isApplied = take(turn) {
            for (change, record) in written { apply(change.key, change.body == nil ? nil : record) }
        }
        guard !isApplied else { return records }
        do throws(ChatError) {
            for (change, _) in written { try await refresh(change.key, apply) }
        } catch {
            throw ChatError(
                .outcomeUnknown, "the change is stored, but may not count yet: \(error.message)",
                retryAfter: .seconds(1))
        }
        return records
    }

    /// Writes the entry of the deed under way beside its changes, and the note that its request was carried out, if there are any.
    private func writeNoted(
        _ changes: [RecordChange], _ events: [EventDraft]
    ) async throws(ChatError) -> [Record] {
        let entry = PendingAuditEntry.change(beside: changes)
        let note = PendingAnswer.change()
        let beside = [entry, note].compactMap(\.self)
        do throws(ChatError) {
            return Array(try await directory.write(changes + beside, events: events).prefix(changes.count))
        } catch {
            if entry != nil { PendingAuditEntry.takeBack() }
            if note != nil { PendingAnswer.takeBack() }
            throw error
        }
    }

    /// Applies a record as it is now.
    public func refresh(_ key: RecordKey, _ apply: Apply) async throws(ChatError) {
        while true {
            let turn = turns.withLock { $0 }
            let record = try await directory.read(key)
            if take(turn, { apply(key, record) }) { return }
        }
    }

    /// Does `body` unless there was another turn since `turn`; whether it did.
    private func take(_ turn: UInt64, _ body: () -> Void) -> Bool {
        turns.withLock { now in
            guard now == turn else { return false }
            now += 1
            body()
            return true
        }
    }
}
