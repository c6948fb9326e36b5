import ChatModel
import Locking
import StorageCore

/// The memory of a node: the newest commits, and the state that every read needs.
final class NodeMemory: Sendable {
    let tail: Tail
    let tailIndex: TailIndex
    private let positions: Lock<AppPositions>
    let retention: RetentionTable
    let changes: RecordChangeBuffer
    let clock: ClusterClock
    let limits: Limits

    init(settings: ClusterEngineSettings, start: Head, retention: RetentionTable) {
        // An empty log has only the commit that set its timetoken. A reader of any position then finds all events in
        // memory.
        tail = Tail(capacity: settings.tailBytes, start: start.commit <= 1 ? .zero : start.timetoken)
        if start.commit <= 1 { tail.publish(Commit(events: [], watermark: start.timetoken)) }
        tailIndex = TailIndex(capacity: settings.tailBytes)
        changes = RecordChangeBuffer(start: start.revision)
        positions = Lock(AppPositions(start: start.timetoken))
        self.retention = retention
        clock = settings.clock
        limits = settings.limits
    }

    /// The time that decides which events have expired: the clock, but never earlier than the newest event. Therefore
    /// expired events do not become visible again when the clock is set back.
    var now: Timetoken { max(clock.now, tail.watermark) }

    /// The position of an app in the log; see ``AppPositions``.
    func position(of app: AppID) -> Timetoken { positions.withLock { $0.position(of: app) } }

    /// Makes the content of a frame visible to readers: first the changes of records, then the events.
    ///
    /// - Parameter have: the head before the frame. What it covers is skipped.
    func apply(_ frame: Frame, after have: Head) {
        for change in frame.changes where change.revision > have.revision { changes.publish(change) }
        // After the events, which may be among those that were deleted.
        defer { for notice in frame.notices { apply(notice) } }
        guard frame.head.timetoken > have.timetoken else { return }
        let events = Array(frame.events[frame.events.index(after: have.timetoken)...])
        tail.publish(Commit(events: events, watermark: frame.head.timetoken))
        positions.withLock { $0.record(events) }
    }

    private func apply(_ notice: Notice) {
        switch notice {
        case .deleted(let timetokens):
            let gone = Set(timetokens)
            tail.remove { $0.retention == .kept && gone.contains($0.timetoken) }
            tailIndex.reset()
        case .retention(let app, let ticks):
            retention.update(AppID(app)) { $0.age = ticks.map { Duration(timetokenTicks: $0) } }
        case .swept(let app, let swept, let newestLoss):
            retention.update(AppID(app)) { entry in
                entry.swept = max(entry.swept, swept)
                entry.newestLoss = max(entry.newestLoss, newestLoss)
            }
        }
    }

    /// Removes all events from memory, because some may have been deleted on other nodes, and sets the retention of all
    /// apps.
    func forget(_ entries: [AppID: RetentionTable.Entry]) {
        tail.forget()
        tailIndex.reset()
        for (app, entry) in entries {
            retention.update(app) { known in
                known.age = entry.age
                known.swept = max(known.swept, entry.swept)
                known.newestLoss = max(known.newestLoss, entry.newestLoss)
            }
        }
    }

    /// Ends all consumers of the log and of record changes.
    func close() {
        tail.close()
        changes.close()
    }
}

extension Duration {
    /// The duration of a number of ticks (100 ns).
    init(timetokenTicks ticks: Int64) {
        self = .nanoseconds(ticks % 10_000_000 * 100) + .seconds(ticks / 10_000_000)
    }
}
