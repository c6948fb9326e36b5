import ChatModel
import SQLite

/// The way to the writer's thread.
struct Writing: Sendable {
    let intake: Intake
    let clerk: Clerk
    let uptime: @Sendable () -> UInt64

    func submit(_ wish: any Wish) {
        let (refusal, isFirst) = intake.offer(wish)
        if let refusal { wish.fail(refusal) }
        if isFirst { clerk.watch() }
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
                WriterJob(
                    drafts: drafts, bytes: bytes, since: uptime(), needsTransaction: needsTransaction,
                    promise: Promise(continuation), body))
        }
        return try result.get()
    }
}
