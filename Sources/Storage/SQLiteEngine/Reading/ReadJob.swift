import ChatModel
import SQLite

/// A read, waiting for a connection.
struct ReadJob: Sendable {
    let run: @Sendable (Reader) -> Void
    let fail: @Sendable (ChatError) -> Void
}
