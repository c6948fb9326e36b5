import ChatModel
import JSON
import SQLite
import StorageCore

extension Writer {
    /// The result of writing records and events.
    struct Written: Sendable {
        let records: [Record]
        let events: [Event]
    }

    /// True when any of the records has changed after a revision, including uncommitted changes of the current
    /// transaction.
    func haveChanged(_ keys: some Sequence<RecordKey>, since revision: Revision) throws(SQLiteFailure) -> Bool {
        let find = statements.findChange
        for key in keys {
            find.bind(key.app.name, at: 1)
            find.bind(key.kind.rawValue, at: 2)
            find.bind(key.id, at: 3)
            find.bind(Int64(revision), at: 4)
            defer { find.reset() }
            if try find.step() { return true }
        }
        return false
    }

    /// Writes all record changes and all events, or nothing. All preconditions are checked before the first row is
    /// changed.
    ///
    /// - Parameter tag: the etag of all new and changed records.
    func write(
        _ changes: [RecordChange], events drafts: [EventDraft], claim: Claim? = nil, tag: Int64 = ETag.random()
    ) throws(SQLiteFailure) -> Result<Written, ChatError> {
        let plan: RecordPlan
        let planned = try RecordPlan.make(changes, tag: tag, now: now) { (key) throws(SQLiteFailure) in
            try statements.findRecord.record(key)
        }
        switch planned {
        case .success(let made): plan = made
        case .failure(let refusal): return .failure(refusal)
        }
        var events: [Event] = []
        if !drafts.isEmpty {
            switch try append(drafts, claim: claim) {
            case .success(let appended) where appended.repeatedNote == nil: events = appended.events.map(\.event)
            case .success: return .failure(.claimConflict)
            case .failure(let refusal): return .failure(refusal)
            }
        }
        let written = plan.stamped(events.first?.timetoken ?? now)
        if !written.steps.isEmpty { try apply(written, revision + 1) }
        return .success(Written(records: written.results, events: events))
    }

    /// Runs `body` if a record has the given version.
    func run<Value>(
        whileCurrent record: RecordVersion?, _ body: () throws(SQLiteFailure) -> Value
    ) throws(SQLiteFailure) -> Result<Value, ChatError> {
        if let record {
            let etag = try statements.findRecord.record(record.key)?.etag
            do throws(ChatError) {
                try RecordChange.Precondition.etag(record.etag).check(etag)
            } catch {
                return .failure(error)
            }
        }
        return .success(try body())
    }

    /// Calls `body` with the current records and performs the changes that it returns.
    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ body: (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) throws(SQLiteFailure) -> Result<Decided<Value>, ChatError> {
        var records: [RecordKey: Record] = [:]
        for key in keys { records[key] = try statements.findRecord.record(key) }
        let decision: Decision<Value>
        let tag = ETag.random()
        do throws(ChatError) {
            decision = try body(RecordSnapshot(now: now, next: nextPlace, etag: ETag.text(tag), records: records))
        } catch {
            return .failure(error)
        }
        for place in decision.requires where try !isKept(place.timetoken, in: place.channel) {
            return .failure(.eventGone(place.timetoken))
        }
        try reserve(for: decision.events.count)
        switch try write(decision.changes, events: decision.events, claim: decision.claim, tag: tag) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let written):
            try remove(decision.removals)
            return .success(
                Decided(
                    value: decision.value, records: written.records, events: written.events,
                    changes: decision.changes))
        }
    }

    private func apply(_ plan: RecordPlan, _ next: Revision) throws(SQLiteFailure) {
        revision = next
        try setHead(of: .directory, to: next)
        var keys: [RecordKey] = []
        for step in plan.steps {
            switch step {
            case .put(let record):
                keys.append(record.key)
                try put(record, next, plan.tag)
            case .remove(let record):
                keys.append(record.key)
                try remove(record.key, next)
            }
        }
        changed.append(RecordChanges(keys: keys, revision: next))
    }

    private func put(_ record: Record, _ revision: Revision, _ tag: Int64) throws(SQLiteFailure) {
        let put = statements.putRecord
        put.bind(record.key.app.name, at: 1)
        put.bind(record.key.kind.rawValue, at: 2)
        put.bind(record.key.id, at: 3)
        put.bind(record.parent, at: 4)
        put.bind(Int64(revision), at: 5)
        put.bind(Int64(record.updated.rawValue), at: 6)
        try record.body.bytes.withUnsafeBufferPointer { (bytes) throws(SQLiteFailure) in
            put.bindInPlace(text: bytes, at: 7)
            put.bind(tag, at: 8)
            try put.run()
        }
    }

    private func remove(_ key: RecordKey, _ revision: Revision) throws(SQLiteFailure) {
        for statement in [statements.removeRecord, statements.recordRemoval] {
            statement.bind(key.app.name, at: 1)
            statement.bind(key.kind.rawValue, at: 2)
            statement.bind(key.id, at: 3)
        }
        try statements.removeRecord.run()
        statements.recordRemoval.bind(Int64(revision), at: 4)
        statements.recordRemoval.bind(Int64(now.rawValue), at: 5)
        try statements.recordRemoval.run()
    }
}
