package import ChatModel
import Locking

/// The newest changes of records, in memory, for their consumers (``ChangeReader``).
package final class RecordChangeBuffer: Sendable {
    let buffer: ReplayBuffer<RecordChanges>
    private let observers = Lock<[@Sendable (RecordChanges) -> Void]>([])

    /// Creates an empty buffer, whose changes follow the revision `start`.
    ///
    /// - Parameter capacity: the maximum memory of the changes in bytes (`weight`). The newest change is stored even if
    ///   it is larger.
    package init(capacity: Int = 1024 * 1024, start: Revision) {
        buffer = ReplayBuffer(capacity: capacity, start: start)
    }

    /// The revision of the newest change. Reading it takes only one atomic load.
    package var end: Revision { buffer.end }

    package var isClosed: Bool { buffer.isClosed }

    /// Adds an observer, which is called with each change of records before readers can see the change.
    package func observe(_ observer: @escaping @Sendable (RecordChanges) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    /// Calls the observers with a change of records, adds the change, moves ``end``, and resumes the waiting consumers.
    package func publish(_ change: RecordChanges) {
        for observer in observers.withLock({ $0 }) { observer(change) }
        buffer.publish(change)
    }

    /// Closes the buffer. Each consumer still receives the remaining changes and then ends.
    package func close() { buffer.close() }
}

extension RecordChanges: ReplayEntry {
    var position: UInt64 { revision }
    var weight: Int { keys.reduce(64) { $0 + $1.id.utf8.count + 96 } }
}
