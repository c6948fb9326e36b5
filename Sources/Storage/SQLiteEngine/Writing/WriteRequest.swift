import ChatModel
import Locking
import SQLite
import StorageCore

/// A request to the writer. After adding the request to the queue, the caller must not access the request until it is
/// completed.
protocol WriteRequest: AnyObject, Sendable {
    /// The number of events to append. Together with `bytes`, it counts against the limits of the write queue and of a
    /// batch.
    var draftCount: Int { get }
    var bytes: Int { get }
    /// The time at which the request was made, in nanoseconds on the engine's uptime clock.
    var since: UInt64 { get }
    /// False when the request does not change the database. If it is false for all requests of a batch, the batch needs
    /// a transaction only to reserve timetokens.
    var needsTransaction: Bool { get }
    /// Performs the request inside the batch's transaction. Adds a closure to `writer.answers`, which returns the
    /// result to the caller after the commit. May be called twice: if one request makes the batch fail, the batch is
    /// rolled back, and each of its requests runs alone.
    func perform(on writer: Writer) throws(SQLiteFailure)
    /// Fails the request with an error, unless the caller already has a result.
    func fail(_ error: ChatError)
}

/// A request to append drafts (events without a timetoken) to the log.
final class AppendRequest: WriteRequest {
    let drafts: [EventDraft]
    let claim: Claim?
    let revision: Revision?
    let bytes: Int
    let since: UInt64
    let needsTransaction: Bool
    private let completion: Completion<AppendOutcome>

    init(
        _ drafts: [EventDraft], claim: Claim?, revision: Revision?, since: UInt64, needsTransaction: Bool,
        _ completion: Completion<AppendOutcome>
    ) {
        self.drafts = drafts
        self.claim = claim
        self.revision = revision
        self.since = since
        bytes = drafts.reduce(0) { $0 + $1.weight }
        self.needsTransaction = needsTransaction
        self.completion = completion
    }

    var draftCount: Int { drafts.count }

    func perform(on writer: Writer) throws(SQLiteFailure) {
        let result = try writer.append(drafts, claim: claim, unlessChangedSince: revision)
        writer.answers.append { [completion] in completion.answer(result) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}

/// A request that runs a closure on the writer's thread.
final class WriteJob<Value: Sendable>: WriteRequest {
    let draftCount: Int
    let bytes: Int
    let since: UInt64
    let needsTransaction: Bool
    private let body: @Sendable (Writer) throws(SQLiteFailure) -> Result<Value, ChatError>
    private let completion: Completion<Value>

    init(
        drafts: Int = 0, bytes: Int = 0, since: UInt64, needsTransaction: Bool = true, completion: Completion<Value>,
        _ body: @escaping @Sendable (Writer) throws(SQLiteFailure) -> Result<Value, ChatError>
    ) {
        self.draftCount = drafts
        self.bytes = bytes
        self.since = since
        self.needsTransaction = needsTransaction
        self.completion = completion
        self.body = body
    }

    func perform(on writer: Writer) throws(SQLiteFailure) {
        let result = try body(writer)
        writer.answers.append { [completion] in completion.answer(result) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}

/// The interface to the writer's thread.
struct WriterHandle: Sendable {
    let writeQueue: WriteQueue
    let deadlineThread: DeadlineThread
    let uptime: @Sendable () -> UInt64

    func submit(_ request: any WriteRequest) {
        let (refusal, isFirst) = writeQueue.offer(request)
        if let refusal { request.fail(refusal) }
        if isFirst { deadlineThread.watch() }
    }

    /// Runs `body` on the writer's thread, in the transaction of the next batch. Returns the result after the commit.
    ///
    /// - Parameter drafts: the number of events that counts against the limits of the write queue. Zero is for internal
    ///   requests, which are never rejected because the queue is full.
    func run<Value: Sendable>(
        drafts: Int = 0, bytes: Int = 0, needsTransaction: Bool = true,
        _ body: @escaping @Sendable (Writer) throws(SQLiteFailure) -> Result<Value, ChatError>
    ) async throws(ChatError) -> Value {
        let result = await withUnsafeContinuation { continuation in
            submit(
                WriteJob(
                    drafts: drafts, bytes: bytes, since: uptime(), needsTransaction: needsTransaction,
                    completion: Completion(continuation), body))
        }
        return try result.get()
    }
}

extension WriterHandle {
    /// Fails the requests that have waited longer than `deadline`. Returns the time of the next check on the machine's
    /// uptime clock, or nil when no request is left.
    func expire(after deadline: Duration) -> UInt64? {
        let now = uptime()
        let (unstored, unknown, isBusy) = writeQueue.overdue(since: now - min(now, deadline.nanoseconds))
        for request in unstored { request.fail(.storeUnavailable) }
        for request in unknown { request.fail(.outcomeUnknown) }
        return isBusy ? DeadlineThread.nextTick : nil
    }
}
