import ChatModel
import StorageCore

/// The callers' interface to the writer.
struct WriterHandle: Sendable {
    let queue: WriteQueue
    let uptime: @Sendable () -> UInt64

    /// Adds a request to the queue and returns its result after the commit.
    ///
    /// - Parameter make: makes the request from the uptime and the completion of the caller.
    nonisolated(nonsending) func run<Value: Sendable>(
        _ make: (UInt64, Completion<Value>) -> any WriteRequest
    ) async throws(ChatError) -> Value {
        let result = await withUnsafeContinuation { continuation in
            queue.offer(make(uptime(), Completion(continuation)))
        }
        return try result.get()
    }

    /// Runs a closure in a transaction of its own.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction, Batch) async throws(StoreFailure) -> Value
    ) async throws(ChatError) -> Value {
        try await run { since, completion in TransactionRequest(since: since, completion: completion, body) }
    }

    /// Fails the requests that have waited longer than `deadline`.
    func expire(after deadline: Duration) {
        let now = uptime()
        let age = UInt64(deadline / .nanoseconds(1))
        let (unstored, unknown) = queue.overdue(since: now - min(now, age))
        for request in unstored { request.fail(.storeUnavailable) }
        for request in unknown { request.fail(.outcomeUnknown) }
    }
}
