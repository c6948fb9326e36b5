import ChatModel
import Locking
import StorageCore

/// A request to the writer. The caller waits for its ``Completion``.
protocol WriteRequest: AnyObject, Sendable {
    /// The number of events to append. Together with `bytes`, it counts against the limits of the queue and of a batch.
    /// Zero is for internal requests, which a full queue does not refuse.
    var draftCount: Int { get }
    var bytes: Int { get }
    /// The uptime in nanoseconds at which the request was made.
    var since: UInt64 { get }
    /// What the request surely reads. It is read for all requests of a batch at once.
    var lookup: Lookup { get }
    /// What the request needs and the batch does not know yet. Called again when that was read.
    func missing(in batch: Batch) -> Lookup
    /// Carries out the request in memory. Nothing is missing.
    func perform(on batch: Batch)
    /// Returns the result to the caller, after the commit.
    func answer()
    /// Fails the request with an error, unless the caller already has a result.
    func fail(_ error: ChatError)
}

/// A request that appends drafts to the log.
final class AppendRequest: WriteRequest {
    let draftCount: Int
    let bytes: Int
    let since: UInt64
    private let drafts: [EventDraft]
    private let claim: Claim?
    private let revision: Revision?
    private let result = Lock<Result<AppendOutcome, ChatError>?>(nil)
    private let completion: Completion<AppendOutcome>

    init(
        _ drafts: [EventDraft], claim: Claim?, revision: Revision?, since: UInt64,
        completion: Completion<AppendOutcome>
    ) {
        self.drafts = drafts
        self.claim = claim
        self.revision = revision
        self.since = since
        self.completion = completion
        draftCount = drafts.count
        bytes = drafts.reduce(0) { $0 + $1.weight }
    }

    var lookup: Lookup {
        var lookup = Lookup()
        if let claim { lookup.claims.insert(ClaimKey(claim)) }
        for draft in drafts {
            if let key = draft.deduplicationKey { lookup.repeats.insert(RepeatKey(draft.channel, key)) }
        }
        return lookup
    }

    func missing(in batch: Batch) -> Lookup { batch.missing(for: drafts, claim: claim, unlessChangedSince: revision) }

    func perform(on batch: Batch) {
        let outcome = batch.append(drafts, claim: claim, unlessChangedSince: revision)
        result.withLock { $0 = outcome }
    }

    func answer() {
        if let result = result.withLock({ $0 }) { completion.answer(result) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}

/// A request that reads records, calls a closure with them, and writes what the closure decides.
final class DecideRequest<Value: Sendable>: WriteRequest {
    private struct State: Sendable {
        /// The decision in this batch; nil until all its records are known.
        var decision: Result<Decision<Value>, ChatError>?
        var result: Result<Decided<Value>, ChatError>?
    }

    let draftCount: Int
    let bytes: Int
    let since: UInt64
    private let keys: [RecordKey]
    private let body: @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    private let tag = ETag.random()
    private let state = Lock(State())
    private let completion: Completion<Decided<Value>>

    /// - Parameters:
    ///   - drafts: the number of drafts that counts against the limits of the queue.
    ///   - bytes: the estimated size of the changes and events.
    init(
        _ keys: [RecordKey], drafts: Int, bytes: Int, since: UInt64, completion: Completion<Decided<Value>>,
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) {
        self.keys = keys
        self.since = since
        self.completion = completion
        self.body = body
        draftCount = drafts
        self.bytes = bytes
    }

    var lookup: Lookup { Lookup(records: Set(keys)) }

    func missing(in batch: Batch) -> Lookup {
        let unknown = batch.unknown(of: lookup)
        guard unknown.isEmpty else { return unknown }
        // The state of the batch does not change until the request runs, so one decision is enough.
        let decision = state.withLock { $0.decision } ?? decide(on: batch)
        guard case .success(let decision) = decision else { return Lookup() }
        return batch.missing(for: decision)
    }

    private func decide(on batch: Batch) -> Result<Decision<Value>, ChatError> {
        let decision: Result<Decision<Value>, ChatError>
        do throws(ChatError) {
            decision = .success(try body(batch.snapshot(keys, tag: tag)))
        } catch {
            decision = .failure(error)
        }
        state.withLock { $0.decision = decision }
        return decision
    }

    func perform(on batch: Batch) {
        let decision = state.withLock { $0.decision } ?? decide(on: batch)
        let result = decision.flatMap { batch.perform($0, tag: tag) }
        // If the batch fails and runs again, the request decides anew.
        state.withLock { $0 = State(decision: nil, result: result) }
    }

    func answer() {
        if let result = state.withLock({ $0.result }) { completion.answer(result) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}

/// A request that changes the batch without reading records.
final class BatchRequest: WriteRequest {
    let draftCount = 0
    let bytes = 0
    let since: UInt64
    private let body: @Sendable (Batch) -> Void
    private let completion: Completion<Void>

    init(since: UInt64, completion: Completion<Void>, _ body: @escaping @Sendable (Batch) -> Void) {
        self.since = since
        self.completion = completion
        self.body = body
    }

    var lookup: Lookup { Lookup() }
    func missing(in batch: Batch) -> Lookup { Lookup() }
    func perform(on batch: Batch) { body(batch) }
    func answer() { completion.answer(.success(())) }
    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}
