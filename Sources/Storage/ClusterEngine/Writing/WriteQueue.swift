import ChatModel
import Locking
import StorageCore

/// The queue of requests between callers and the writer. The writer takes the waiting requests as one batch, at most
/// 2,000 drafts or 4 MiB. A request above a limit of the queue is refused at once, because otherwise all callers would
/// wait too long.
final class WriteQueue: Sendable {
    private static let batchDrafts = 2000
    private static let batchBytes = 4 * 1024 * 1024

    private struct State: Sendable {
        var requests: [any WriteRequest] = []
        var drafts = 0
        var bytes = 0
        var isClosed = false
        /// The batch that the writer carries out; nil between batches.
        var flight: Flight?
    }

    private struct Flight: Sendable {
        let requests: [any WriteRequest]
        var isCommitting = false
        var isGivenUp = false
    }

    private let state = Lock(State())
    private let limits: Limits
    /// Sent for each request, and when the queue is closed.
    let signal = AsyncSignal()

    init(limits: Limits) { self.limits = limits }

    /// Adds a request, or fails it at once if the queue is closed or full.
    func offer(_ request: any WriteRequest) {
        let refusal = state.withLock { state -> ChatError? in
            guard !state.isClosed else { return .closing }
            if request.draftCount > 0, !state.requests.isEmpty,
                state.drafts + request.draftCount > limits.waitingDrafts
                    || state.bytes + request.bytes > limits.waitingBytes
            {
                return .overloaded
            }
            state.requests.append(request)
            state.drafts += request.draftCount
            state.bytes += request.bytes
            return nil
        }
        if let refusal { request.fail(refusal) } else { signal.send() }
    }

    /// Removes and returns the next batch; empty when no request waits.
    func take() -> [any WriteRequest] {
        state.withLock { state in
            var drafts = 0
            var bytes = 0
            guard let first = state.requests.first else { return [] }
            let count =
                first.isExclusive
                ? 1
                : state.requests.prefix { request in
                    drafts += max(1, request.draftCount)
                    bytes += request.bytes
                    return !request.isExclusive && drafts <= Self.batchDrafts && bytes <= Self.batchBytes
                }.count
            let batch = Array(state.requests.prefix(max(1, count)))
            state.requests.removeFirst(batch.count)
            for request in batch {
                state.drafts -= request.draftCount
                state.bytes -= request.bytes
            }
            state.flight = Flight(requests: batch)
            return batch
        }
    }

    /// False if the requests of the batch were already failed, because they waited too long.
    var mayGoOn: Bool { state.withLock { $0.flight?.isGivenUp != true } }

    /// Called before the commit of a batch. Returns false if its requests were already failed; then nothing may be
    /// stored.
    func beginCommit() -> Bool {
        state.withLock { state in
            guard state.flight?.isGivenUp != true else { return false }
            state.flight?.isCommitting = true
            return true
        }
    }

    /// Called when a batch has ended, with or without success.
    func endBatch() { state.withLock { $0.flight = nil } }

    /// Removes the requests made before `moment`, an uptime in nanoseconds.
    ///
    /// - Returns: `unstored`, the requests of which nothing is stored, and `unknown`, those whose commit is under way.
    func overdue(since moment: UInt64) -> (unstored: [any WriteRequest], unknown: [any WriteRequest]) {
        state.withLock { state in
            var unstored = Array(state.requests.prefix { $0.since < moment })
            state.requests.removeFirst(unstored.count)
            for request in unstored {
                state.drafts -= request.draftCount
                state.bytes -= request.bytes
            }
            guard let flight = state.flight, !flight.isGivenUp,
                flight.requests.contains(where: { $0.since < moment })
            else { return (unstored, []) }
            if flight.isCommitting { return (unstored, flight.requests.filter { $0.since < moment }) }
            state.flight?.isGivenUp = true
            unstored += flight.requests
            return (unstored, [])
        }
    }

    /// Refuses every later request. The waiting ones stay.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.send()
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// True when the queue is closed and empty.
    var isDrained: Bool { state.withLock { $0.isClosed && $0.requests.isEmpty } }

    var isEmpty: Bool { state.withLock { $0.requests.isEmpty } }

    /// The number of waiting drafts.
    var waitingDrafts: Int { state.withLock { $0.drafts } }
}
