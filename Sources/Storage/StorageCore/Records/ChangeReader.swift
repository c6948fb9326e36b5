package import ChatModel
import Locking

/// One consumer of the changes of records, with its position: the revision of the last change that it has received.
package final class ChangeReader: Sendable {
    /// Reads the stored changes after a revision: the changes of the first commits after it, joined into one, or nil if
    /// there are none.
    package typealias Refill = @Sendable (Revision) async throws(ChatError) -> RecordChanges?

    private let changes: RecordChangeBuffer
    private let readStored: Refill
    private let position: Lock<Revision>

    /// Creates a consumer that starts after a revision.
    ///
    /// - Parameter refill: reads the changes that are no longer in memory. It is called again after an error.
    package init(changes: RecordChangeBuffer, after revision: Revision, refill: @escaping Refill) {
        self.changes = changes
        readStored = refill
        position = Lock(revision)
    }

    /// Waits for the next record changes and returns them; nil when the engine is closed or the task is cancelled. Only
    /// one task at a time may call this function.
    package func next() async -> RecordChanges? {
        while !Task.isCancelled {
            let here = position.withLock { $0 }
            switch changes.buffer.slice(after: here, limit: 1) {
            case .entries(let found):
                position.withLock { $0 = found[0].revision }
                return found[0]
            case .behind:
                if let found = await refill(after: here) { return found }
                if changes.isClosed { return nil }
            case .empty: await changes.buffer.wait(after: here)
            case .closed: return nil
            }
        }
        return nil
    }

    private func refill(after here: Revision) async -> RecordChanges? {
        let end = changes.end
        do {
            // If nothing was found, no change is left to report: the records were changed again later, or were removed
            // long ago. The consumer still learns the revision, because it may wait for it.
            let found = try await readStored(here) ?? RecordChanges(keys: [], revision: end)
            position.withLock { $0 = found.revision }
            return found
        } catch {
            // The store has already logged the error. The caller retries, because no change may be skipped.
            try? await Task.sleep(for: .milliseconds(100))  // the head of the loop checks for cancellation
            return nil
        }
    }
}
