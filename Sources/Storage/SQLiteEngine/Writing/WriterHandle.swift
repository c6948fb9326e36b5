import ChatModel
import SQLite

/// The way to the writer's thread.
struct WriterHandle: Sendable {
    let writeQueue: WriteQueue
    let deadlineThread: DeadlineThread
    let uptime: @Sendable () -> UInt64

    func submit(_ request: any WriteRequest) {
        let (refusal, isFirst) = writeQueue.offer(request)
        if let refusal { request.fail(refusal) }
        if isFirst { deadlineThread.watch() }
    }

    /// Runs `body` on the writer, in the next batch's transaction; returns after its commit.
    ///
    /// - Parameter drafts: counts against the intake's bounds; zero is for the engine's own parts.
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
