import ChatCore
import ChatModel
import Locking
import Logging

/// Writes the requests that are kept whole into the directory, behind those who post, and removes what has given way.
///
/// What waits is bounded by the log: a request that gives way before it was written is forgotten, and what is to be removed
/// was written.
final class RequestArchive: Sendable {
    /// A larger one is in memory alone: the store would not take it in one piece, ever. Only a raised `inboundBodyBytes`
    /// lets them in.
    private static let mostBytesOfOne = 8 * 1024 * 1024
    /// What one commit takes of them, but for a first one that is larger.
    private static let mostBytes = 1024 * 1024
    private static let mostChanges = 100

    /// What is to become of a record.
    private enum PendingChange {
        case keep(InboundRequest, of: RecordKey)
        case remove

        var cost: Int { if case .keep(let request, _) = self { request.cost } else { 0 } }
    }

    private let waiting = Lock<[RecordKey: PendingChange]>([:])
    private let directory: any Directory
    private let logger: Logger
    /// After a commit that failed.
    private let pause: Duration
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(_ directory: any Directory, logger: Logger, pause: Duration = .seconds(5)) {
        self.directory = directory
        self.logger = logger
        self.pause = pause
        (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func keep(_ request: InboundRequest, of source: RecordKey) {
        guard request.cost <= Self.mostBytesOfOne else { return }
        waiting.withLock { $0[request.key(of: source)] = .keep(request, of: source) }
        waker.yield()
    }

    func remove(_ keys: [RecordKey]) {
        guard !keys.isEmpty else { return }
        waiting.withLock { waiting in
            for key in keys {
                // One that still waits was never written.
                if case .keep = waiting.removeValue(forKey: key) { continue }
                waiting[key] = .remove
            }
        }
        waker.yield()
    }

    /// Writes until cancelled, and then what is left.
    func run() async {
        for await _ in wakes {
            // Cancellation shows at the loop's head; the pause carries no other news.
            while await !writeAll(), !Task.isCancelled { try? await Task.sleep(for: pause) }
        }
        _ = await writeAll()
    }

    /// - Returns: whether nothing is left.
    private func writeAll() async -> Bool {
        while let batch = take() {
            do throws(ChatError) {
                _ = try await directory.write(
                    batch.map { key, wish in
                        if case .keep(let request, let source) = wish { return request.change(of: source) }
                        return RecordChange(key, body: nil)
                    })
            } catch {
                logger.warning(
                    "requests to sources not stored",
                    metadata: ["count": "\(batch.count)", "error": "\(error.message)"])
                putBack(batch)
                return false
            }
        }
        return true
    }

    private func take() -> [RecordKey: PendingChange]? {
        waiting.withLock { waiting in
            var batch: [RecordKey: PendingChange] = [:]
            var bytes = 0
            for (key, wish) in waiting {
                guard batch.isEmpty || bytes + wish.cost <= Self.mostBytes else { break }
                batch[key] = wish
                bytes += wish.cost
                if batch.count == Self.mostChanges { break }
            }
            for key in batch.keys { waiting[key] = nil }
            return batch.isEmpty ? nil : batch
        }
    }

    /// What has been wished since stays; a removal too, as nobody knows whether the commit that failed has happened.
    private func putBack(_ batch: [RecordKey: PendingChange]) {
        waiting.withLock { $0.merge(batch) { since, _ in since } }
    }
}
