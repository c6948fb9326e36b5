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
    /// The state that the request always reads. The writer reads it for all requests of a batch at once.
    var lookup: Lookup { get }
    /// True if the request needs a transaction of its own.
    var isExclusive: Bool { get }
    /// The state that the request probably reads after ``lookup``. The writer reads it for all requests of a batch at
    /// once.
    func followUp(in batch: Batch) -> Lookup
    /// Carries out the request: reads what the batch does not know yet, and changes the batch.
    func perform(on batch: Batch, _ transaction: any StoreTransaction) async throws(StoreFailure)
    /// Returns the result to the caller, after the commit.
    func answer()
    /// Fails the request with an error, unless the caller already has a result.
    func fail(_ error: ChatError)
}

extension WriteRequest {
    var lookup: Lookup { Lookup() }
    var isExclusive: Bool { false }
    func followUp(in batch: Batch) -> Lookup { Lookup() }
}

/// Reads from the store what is missing, until nothing is.
private func complete(
    _ batch: Batch, _ transaction: any StoreTransaction, _ missing: () -> Lookup
) async throws(StoreFailure) {
    while true {
        let lookup = missing()
        guard !lookup.isEmpty else { return }
        batch.add(try await transaction.read(lookup))
    }
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

    func followUp(in batch: Batch) -> Lookup { batch.missing(for: drafts, claim: claim, unlessChangedSince: revision) }

    func perform(on batch: Batch, _ transaction: any StoreTransaction) async throws(StoreFailure) {
        try await complete(batch, transaction) { followUp(in: batch) }
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
    let draftCount: Int
    let bytes: Int
    let since: UInt64
    private let keys: [RecordKey]
    private let body: @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    private let tag = ETag.random()
    private let result = Lock<Result<Decided<Value>, ChatError>?>(nil)
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

    func perform(on batch: Batch, _ transaction: any StoreTransaction) async throws(StoreFailure) {
        try await complete(batch, transaction) { batch.unknown(of: lookup) }
        // The state of the batch does not change until the request is complete, so one decision is enough.
        let decision: Decision<Value>
        do throws(ChatError) {
            decision = try body(batch.snapshot(keys, tag: tag))
        } catch {
            return result.withLock { $0 = .failure(error) }
        }
        try await complete(batch, transaction) { batch.missing(for: decision) }
        let decided = batch.perform(decision, tag: tag)
        result.withLock { $0 = decided }
    }

    func answer() {
        if let result = result.withLock({ $0 }) { completion.answer(result) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}

/// A request that runs a closure in a transaction of its own.
final class TransactionRequest<Value: Sendable>: WriteRequest {
    let draftCount = 0
    let bytes = 0
    let isExclusive = true
    let since: UInt64
    private let body: @Sendable (any StoreTransaction, Batch) async throws(StoreFailure) -> Value
    private let result = Lock<Value?>(nil)
    private let completion: Completion<Value>

    init(
        since: UInt64, completion: Completion<Value>,
        _ body: @escaping @Sendable (any StoreTransaction, Batch) async throws(StoreFailure) -> Value
    ) {
        self.since = since
        self.body = body
        self.completion = completion
    }

    func perform(on batch: Batch, _ transaction: any StoreTransaction) async throws(StoreFailure) {
        let value = try await body(transaction, batch)
        result.withLock { $0 = value }
    }

    func answer() {
        if let value = result.withLock({ $0 }) { completion.answer(.success(value)) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}
