import ChatModel
import StorageCore

/// The callers' interface to the writer.
struct WriterHandle: Sendable {
    let writer: Writer
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

    /// Deletes at most `limit` durable events of a channel between two bounds, both exclusive.
    func delete(
        after: Timetoken, before: Timetoken, in channel: ChannelID, limit: Int
    ) async throws(ChatError) -> [(timetoken: Timetoken, expires: Timetoken?)] {
        do throws(StoreFailure) {
            return try await writer.delete(after: after, before: before, in: channel, limit: limit)
        } catch {
            throw error.answer
        }
    }

    /// Fails the requests that have waited longer than `deadline`.
    func expire(after deadline: Duration) {
        let now = uptime()
        let age = UInt64(deadline / .nanoseconds(1))
        for request in queue.overdue(since: now - min(now, age)) { request.fail(.storeUnavailable) }
    }
}
