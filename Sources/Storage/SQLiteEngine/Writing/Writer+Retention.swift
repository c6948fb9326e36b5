import ChatModel
import SQLite
import StorageCore

extension Writer {
    /// The result of one batch of a deletion.
    struct DeletionBatch: Sendable {
        /// The number of removed events that were visible to readers.
        var visible = 0
        /// The position after which the next batch continues; nil when the deletion is complete.
        var next: Timetoken?
    }

    /// The maximum number of rows changed in one transaction, because other requests wait until the transaction ends.
    static let turnRows = 2000

    /// Removes the first batch of a channel's stored events between the bounds, both exclusive. The rows are deleted.
    /// If they were only marked as deleted, every read would have to check the mark, and the rows would have to be
    /// removed later anyway.
    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) throws(SQLiteFailure) -> DeletionBatch {
        guard let id = try names.id(of: channel) else { return DeletionBatch() }
        let cutoff = engineState.retention.cutoff(of: channel.app, now: now)
        let find = statements.findDoomed
        find.bind(id, at: 1)
        find.bind(Int64(clamping: after.rawValue), at: 2)
        find.bind(Int64(clamping: before.rawValue), at: 3)
        find.bind(Self.turnRows, at: 4)
        var batch = DeletionBatch()
        var doomed: [Int64] = []
        let time = now
        try find.forEachRow { row in
            doomed.append(row.integer(0))
            let isExpired = row.optionalInteger(1).map { UInt64($0) <= time.rawValue } ?? false
            if !isExpired, UInt64(row.integer(0)) > cutoff.rawValue { batch.visible += 1 }
            return true
        }
        for timetoken in doomed {
            statements.deleteEvent.bind(timetoken, at: 1)
            try statements.deleteEvent.run()
        }
        let gone = Set(doomed)
        effects.append { [engineState] in
            engineState.tail.remove { $0.retention == .kept && gone.contains(Int64($0.timetoken.rawValue)) }
            engineState.tailIndex.reset()
        }
        if doomed.count == Self.turnRows, let last = doomed.last { batch.next = Timetoken(UInt64(last)) }
        return batch
    }

    /// Removes stored events, and the copies of their content in waiting deliveries. Such a delivery later becomes dead
    /// because its event no longer exists.
    func remove(_ removals: [(channel: ChannelID, timetoken: Timetoken)]) throws(SQLiteFailure) {
        var gone: Set<Timetoken> = []
        for removal in removals {
            let timetoken = Int64(clamping: removal.timetoken.rawValue)
            if try isKept(removal.timetoken, in: removal.channel) {
                statements.deleteEvent.bind(timetoken, at: 1)
                try statements.deleteEvent.run()
                gone.insert(removal.timetoken)
            }
            statements.dropBodies.bind(timetoken, at: 1)
            try statements.dropBodies.run()
        }
        guard !gone.isEmpty else { return }
        effects.append { [engineState, gone] in
            engineState.tail.remove { $0.retention == .kept && gone.contains($0.timetoken) }
            engineState.tailIndex.reset()
        }
    }

    /// True when a stored event of the channel has this timetoken. Includes uncommitted events of the current
    /// transaction.
    func isKept(_ timetoken: Timetoken, in channel: ChannelID) throws(SQLiteFailure) -> Bool {
        guard let id = try names.id(of: channel) else { return false }
        let find = statements.findPlace
        find.bind(Int64(clamping: timetoken.rawValue), at: 1)
        find.bind(id, at: 2)
        defer { find.reset() }
        return try find.step()
    }

    /// Sets the maximum age of an app's events; nil means no limit. Reads use the new value after the commit.
    func setRetention(_ age: Duration?, of app: AppID) throws(SQLiteFailure) {
        statements.setRetention.bind(age?.timetokenTicks, at: 1)
        statements.setRetention.bind(try id(of: app), at: 2)
        try statements.setRetention.run()
        effects.append { [engineState] in
            engineState.retention.update(app) { $0.age = age }
        }
    }
}
