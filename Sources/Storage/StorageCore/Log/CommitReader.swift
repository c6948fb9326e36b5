package import ChatModel
import Locking

/// One consumer of the log's commits, with its position. It reads commits from memory, or from the store if they are no
/// longer in memory.
package final class CommitReader: CommitsInMemory {
    /// Reads the events of all channels, without imported events, after the first position, up to and including the
    /// second position. The number is the maximum number of stored events.
    package typealias Refill =
        @Sendable (_ position: Timetoken, _ end: Timetoken, _ limit: Int) async throws(ChatError) -> Page<Event>

    /// The maximum number of events per read from the store.
    private static let stride = 1000
    /// The maximum number of commits that are joined into one.
    private static let commitsTogether = 64
    /// The maximum number of events in a joined commit, unless its first commit alone has more.
    private static let eventsTogether = 256

    private let tail: Tail
    private let read: Refill
    private let position: Lock<Timetoken>

    /// Creates a consumer that starts after the newest commit. The first commit it returns is the next commit of the
    /// log.
    ///
    /// - Parameter refill: reads the events that are no longer in memory. It is called again after an error.
    package init(tail: Tail, refill: @escaping Refill) {
        self.tail = tail
        read = refill
        position = Lock(tail.watermark)
    }

    package func nextInMemory() -> Commit? {
        let here = position.withLock { $0 }
        guard case .entries(let commits) = tail.buffer.slice(after: here.rawValue, limit: Self.commitsTogether) else {
            return nil
        }
        return advance(to: Self.joined(commits), from: here)
    }

    package func notify(_ callback: @escaping @Sendable () -> Void) -> Bool {
        tail.buffer.notify(after: position.withLock { $0.rawValue }, callback)
    }

    /// Waits for the next commit and returns it. Small commits may be joined into one. Returns nil when the engine is
    /// closed or the task is cancelled. Only one task at a time may call this function.
    package nonisolated(nonsending) func next() async -> Commit? {
        while !Task.isCancelled {
            let here = position.withLock { $0 }
            switch tail.buffer.slice(after: here.rawValue, limit: Self.commitsTogether) {
            case .entries(let commits):
                return advance(to: Self.joined(commits), from: here)
            case .behind:
                return await refill(after: here)
            case .empty: await tail.buffer.wait(after: here.rawValue)
            case .closed: return nil
            }
        }
        return nil
    }

    private static func joined(_ commits: [Commit]) -> Commit {
        var (end, count) = (1, commits[0].events.count)
        while end < commits.count, count + commits[end].events.count <= eventsTogether {
            count += commits[end].events.count
            end += 1
        }
        guard end > 1 else { return commits[0] }
        var events: [Event] = []
        events.reserveCapacity(count)
        for commit in commits[..<end] { for event in commit.events { events.append(event) } }
        return Commit(events: events, watermark: commits[end - 1].watermark)
    }

    /// Moves the position to the end of `commit`, and returns the commit without the events that were returned before.
    /// A commit whose events were all deleted is also returned, because consumers wait for its watermark.
    private func advance(to commit: Commit, from here: Timetoken) -> Commit {
        position.withLock { $0 = commit.watermark }
        let events = commit.events
        guard let first = events.first, first.timetoken <= here else { return commit }
        return Commit(events: Array(events[events.index(after: here)...]), watermark: commit.watermark)
    }

    /// Reads the next events as one commit. Retries after a failure, because no event may be skipped.
    private nonisolated(nonsending) func refill(after here: Timetoken) async -> Commit? {
        while !Task.isCancelled {
            let end = tail.watermark
            do {
                let page = try await read(here, end, Self.stride)
                position.withLock { $0 = page.position }
                return Commit(events: page.items, watermark: page.position)
            } catch {
                guard !tail.isClosed else { return nil }
                // The error can be ignored, because the condition of the loop checks for cancellation.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        return nil
    }
}
