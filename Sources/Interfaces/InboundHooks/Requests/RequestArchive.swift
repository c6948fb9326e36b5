import ChatCore
import ChatModel
import Locking
import Logging

/// Stores a record for each request whose whole body is in the ``RequestLog``. When the ``RequestLog`` drops a request,
/// removes the record of the request. Senders do not wait for these writes.
///
/// When the ``RequestLog`` drops a request whose record is not written yet, the pending write is cancelled. The number
/// of pending changes is therefore bounded by the limits of the ``RequestLog``.
final class RequestArchive: Sendable {
    /// The maximum size of a stored request in bytes. The store accepts no larger record, so a larger request is in
    /// memory only. Such requests occur only if `inboundBodyBytes` was raised.
    private static let mostBytesOfOne = 8 * 1024 * 1024
    /// The maximum total size of the requests in one commit, in bytes. A single larger request gets a commit of its
    /// own.
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
                // The request was not written yet, so its write is cancelled.
                if case .keep = waiting.removeValue(forKey: key) { continue }
                waiting[key] = .remove
            }
        }
        waker.yield()
    }

    /// Writes changes until the task is cancelled, and then writes the pending changes.
    func run() async {
        for await _ in wakes {
            // A cancellation ends the sleep with an error. The loop checks for cancellation itself.
            while await !writeAll(), !Task.isCancelled { try? await Task.sleep(for: pause) }
        }
        _ = await writeAll()
    }

    /// Writes the pending changes.
    ///
    /// - Returns: false when a commit failed and changes are left.
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
                    "cannot store requests to sources; trying again later",
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

    /// Puts the changes of a failed batch back into the pending changes. If the same record has a newer pending change,
    /// the newer change is kept. For example, a request of the batch may have been removed from the log since then. The
    /// removal must be written, because the failed commit may have stored the request nevertheless.
    private func putBack(_ batch: [RecordKey: PendingChange]) {
        waiting.withLock { $0.merge(batch) { since, _ in since } }
    }
}
