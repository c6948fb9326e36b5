import ChatModel
import Locking
import SQLite

/// One consumer of the commits, with its position. It reads from memory, and from the file when it has fallen behind.
final class CommitReader: Sendable {
    /// Events per read from the file for a consumer that has fallen behind.
    private static let stride = 1000
    /// Small commits are joined: at most this many commits, and about this many events.
    private static let commitsTogether = 64
    private static let eventsTogether = 256

    private let engineState: EngineState
    private let readers: Readers
    private let position: Lock<Timetoken>

    /// Starts at the newest commit, so the first commit returned is the next one.
    init(engineState: EngineState, readers: Readers) {
        self.engineState = engineState
        self.readers = readers
        position = Lock(engineState.tail.watermark)
    }

    /// Returns the next commit, or several joined into one. Returns nil when the engine is closed or the task is
    /// cancelled. Only one task at a time may call it.
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

    /// Advances the position and removes events that were returned before. The result may have no events, when they
    /// were deleted; it is returned anyway because consumers wait for its watermark.
    private func advance(to commit: Commit, from here: Timetoken) -> Commit {
        position.withLock { $0 = commit.watermark }
        let events = commit.events
        guard let first = events.first, first.timetoken <= here else { return commit }
        return Commit(events: Array(events[events.index(after: here)...]), watermark: commit.watermark)
    }

    /// Reads further commits from the file. Retries after a failure, because the sequence must be complete rather than
    /// fast.
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
                // The head of the loop checks for cancellation.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        return nil
    }
}
