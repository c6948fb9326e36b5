import ChatCore
import ChatModel
import Locking
import Logging

/// Writes the requests that are kept complete to the directory, without delaying their senders, and removes those that
/// the log has dropped.
///
/// The log bounds the pending changes: a request that is dropped before it was written is forgotten, and only written
/// requests are removed.
final class RequestArchive: Sendable {
    /// A larger request is kept only in memory, because the store never takes it in one piece. Only a raised
    /// `inboundBodyBytes` permits such requests.
    private static let mostBytesOfOne = 8 * 1024 * 1024
    /// The maximum number of bytes in one commit, except that a single larger request is a commit of its own.
    private static let mostBytes = 1024 * 1024
    private static let mostChanges = 100

    /// A pending change of a record.
    private enum PendingChange {
        case keep(InboundRequest, of: RecordKey)
        case remove

        var cost: Int { if case .keep(let request, _) = self { request.cost } else { 0 } }
    }

    private let waiting = Lock<[RecordKey: PendingChange]>([:])
    private let directory: any Directory
    private let logger: Logger
    /// The pause after a failed commit.
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
                // A pending request was never written.
                if case .keep = waiting.removeValue(forKey: key) { continue }
                waiting[key] = .remove
            }
        }
        waker.yield()
    }

    /// Writes until cancelled, then writes the rest.
    func run() async {
        for await _ in wakes {
            // The loop checks for cancellation, so an error of the sleep can be ignored.
            while await !writeAll(), !Task.isCancelled { try? await Task.sleep(for: pause) }
        }
        _ = await writeAll()
    }

    /// - Returns: true when nothing is left.
    private func writeAll() async -> Bool {
        while let batch = drain() {
            do throws(ChatError) {
                _ = try await directory.write(
                    batch.map { key, change in
                        if case .keep(let request, let source) = change { return request.change(of: source) }
                        return RecordChange(key, body: nil)
                    })
            } catch {
                logger.warning(
                    "cannot store requests to sources",
                    metadata: ["count": "\(batch.count)", "error": "\(error.message)"])
                putBack(batch)
                return false
            }
        }
        return true
    }

    private func drain() -> [RecordKey: PendingChange]? {
        waiting.withLock { waiting in
            var batch: [RecordKey: PendingChange] = [:]
            var bytes = 0
            for (key, change) in waiting {
                guard batch.isEmpty || bytes + change.cost <= Self.mostBytes else { break }
                batch[key] = change
                bytes += change.cost
                if batch.count == Self.mostChanges { break }
            }
            for key in batch.keys { waiting[key] = nil }
            return batch.isEmpty ? nil : batch
        }
    }

    /// Puts a failed batch back. Newer changes take precedence, and so do removals, because a failed commit may still
    /// have been applied.
    private func putBack(_ batch: [RecordKey: PendingChange]) {
        waiting.withLock { $0.merge(batch) { since, _ in since } }
    }
}
