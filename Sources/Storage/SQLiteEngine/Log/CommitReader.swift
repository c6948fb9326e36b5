import ChatModel
import Locking
import SQLite

/// One consumer of the commits: where it stands, and how it goes on from there.
final class CommitReader: Sendable {
    /// Events read from the file at a time by one that fell behind.
    private static let stride = 1000
    /// Commits of few events are handed on together, up to so many at a time and about so many events.
    private static let commitsTogether = 64
    private static let eventsTogether = 256

    private let engineState: EngineState
    private let readers: Readers
    private let position: Lock<Timetoken>

    /// Stands at the newest commit: the first one it hands on is the next.
    init(engineState: EngineState, readers: Readers) {
        self.engineState = engineState
        self.readers = readers
        position = Lock(engineState.tail.watermark)
    }

    /// The next commit, or several as one; nil when the engine is closed or the task cancelled. For one task at a time.
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

    /// Moves on, and cuts off what was handed on before. What is left may be nothing, when its events were deleted: the
    /// watermark is handed on all the same, for those who wait for it.
    private func advance(to commit: Commit, from here: Timetoken) -> Commit {
        position.withLock { $0 = commit.watermark }
        let events = commit.events
        guard let first = events.first, first.timetoken <= here else { return commit }
        return Commit(events: Array(events[events.index(after: here)...]), watermark: commit.watermark)
    }

    /// Reads on from the file. Asks again after a failure: the sequence promises to be complete, not to be quick.
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
                // Cancellation shows at the loop's head; the pause carries no other news.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        return nil
    }
}
