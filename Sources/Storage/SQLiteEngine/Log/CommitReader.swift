import ChatModel
import Locking
import SQLite

/// One consumer of the log's commits, with its position. It reads commits from memory, or from the database if they are
/// no longer in memory.
final class CommitReader: Sendable {
    /// The maximum number of events per read from the database.
    private static let stride = 1000
    /// The maximum number of commits that are joined into one.
    private static let commitsTogether = 64
    /// The maximum number of events in a joined commit, unless its first commit alone has more.
    private static let eventsTogether = 256

    private let engineState: EngineState
    private let readers: Readers
    private let position: Lock<Timetoken>

    /// Creates a consumer that starts after the newest commit. The first commit it returns is the next commit of the
    /// log.
    init(engineState: EngineState, readers: Readers) {
        self.engineState = engineState
        self.readers = readers
        position = Lock(engineState.tail.watermark)
    }

    /// Waits for the next commit and returns it. Small commits may be joined into one. Returns nil when the engine is
    /// closed or the task is cancelled. Only one task at a time may call this function.
    nonisolated(nonsending) func next() async -> Commit? {
        while !Task.isCancelled {
            let here = position.withLock { $0 }
            switch engineState.tail.slice(after: here.rawValue, limit: Self.commitsTogether) {
            case .entries(let commits):
                return advance(to: Self.joined(commits), from: here)
            case .behind:
                return await refill(after: here)
            case .empty: await engineState.tail.wait(after: here.rawValue)
            case .closed: return nil
            }
        }
        return nil
    }

    private static func joined(_ commits: [Commit]) -> Commit {
        var joined = commits[0]
        for commit in commits.dropFirst() {
            guard joined.events.count + commit.events.count <= eventsTogether else { break }
            joined.events += commit.events
            joined.watermark = commit.watermark
        }
        return joined
    }

    /// Moves the position to the end of `commit`, and returns the commit without the events that were returned before.
    /// A commit whose events were all deleted is also returned, because consumers wait for its watermark.
    private func advance(to commit: Commit, from here: Timetoken) -> Commit {
        position.withLock { $0 = commit.watermark }
        let events = commit.events
        guard let first = events.first, first.timetoken <= here else { return commit }
        return Commit(events: Array(events[events.index(after: here)...]), watermark: commit.watermark)
    }

    /// Reads the next events from the database as one commit. Retries after a failure, because no event may be skipped.
    private nonisolated(nonsending) func refill(after here: Timetoken) async -> Commit? {
        while !Task.isCancelled {
            let end = engineState.tail.watermark
            do {
                var page = try await readers.run { (reader) throws(SQLiteFailure) in
                    try reader.everything(after: here, upTo: end, limit: Self.stride)
                }
                page.merge(engineState.passing.events(in: nil, after: here, upTo: page.position), limit: .max)
                let reached = page.position
                position.withLock { $0 = reached }
                return Commit(events: page.items, watermark: reached)
            } catch {
                guard !engineState.tail.isClosed else { return nil }
                // The error can be ignored, because the condition of the loop checks for cancellation.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        return nil
    }
}
