import ChatModel
import Locking
import SQLite
import Synchronization

/// A request that waits for the writer. The caller hands it over completely and does not touch it until it is answered.
protocol WriteRequest: AnyObject, Sendable {
    /// Its size, which counts against the limits of the write queue and of one batch.
    var draftCount: Int { get }
    var bytes: Int { get }
    /// The time at which it was made, on the engine's uptime clock.
    var since: UInt64 { get }
    /// False when only memory changes: a batch of such requests needs no commit.
    var needsTransaction: Bool { get }
    /// Does the work inside the batch's transaction. Answers through `writer.answers`, never before the commit. May run
    /// twice: when one request makes a batch fail, the batch is rolled back and its requests run one by one.
    func perform(on writer: Writer) throws(SQLiteFailure)
    /// Answers with an error, unless an answer was given.
    func fail(_ error: ChatError)
}

/// A request to append drafts.
final class AppendRequest: WriteRequest {
    let drafts: [EventDraft]
    let claim: Claim?
    let revision: Revision?
    let bytes: Int
    let since: UInt64
    let needsTransaction: Bool
    private let completion: Completion<AppendOutcome>

    init(
        _ drafts: [EventDraft], claim: Claim?, revision: Revision?, since: UInt64,
        _ continuation: UnsafeContinuation<Result<AppendOutcome, ChatError>, Never>
    ) {
        self.drafts = drafts
        self.claim = claim
        self.revision = revision
        self.since = since
        bytes = drafts.reduce(0) { $0 + $1.weight }
        needsTransaction = claim != nil || drafts.contains { $0.retention == .kept || $0.deduplicationKey != nil }
        completion = Completion(continuation)
    }

    var draftCount: Int { drafts.count }

    func perform(on writer: Writer) throws(SQLiteFailure) {
        let result = try writer.append(drafts, claim: claim, unlessChangedSince: revision)
        writer.answers.append { [completion] in completion.answer(result) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}

/// A request with any other work for the writer.
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

    /// Runs `body` on the writer, in the next batch's transaction. Returns after its commit.
    ///
    /// - Parameter drafts: counts against the limits of the write queue; zero is for the engine's own parts.
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
    /// Fails the requests that have waited too long. Returns the time of the next check.
    func expire(after deadline: Duration) -> UInt64? {
        let now = uptime()
        let (unstored, unknown, isBusy) = writeQueue.overdue(since: now - min(now, deadline.nanoseconds))
        for request in unstored { request.fail(.storeUnavailable) }
        for request in unknown { request.fail(.outcomeUnknown) }
        return isBusy ? DeadlineThread.nextTick : nil
    }
}

/// A result that one caller awaits. Both the writer and the deadline thread may answer; the first answer counts.
///
/// Because of that check the continuation need not be a checked one, which would allocate an object for each append.
final class Completion<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Result<Value, ChatError>, Never>
    private let isAnswered = Atomic(false)

    init(_ continuation: UnsafeContinuation<Result<Value, ChatError>, Never>) {
        self.continuation = continuation
    }

    func answer(_ result: Result<Value, ChatError>) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
        continuation.resume(returning: result)
    }
}
