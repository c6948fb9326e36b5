public import ChatModel
import Locking

/// A request under way that is carried out once, however often it comes (`Idempotency-Key`): whoever writes records for it
/// takes the note along, so that both are in one commit.
///
/// It travels with the task, as ``AuditNote`` does.
public final class AnswerNote: Sendable {
    @TaskLocal public static var current: AnswerNote?

    private let begun: RecordChange
    private let isWritten = Lock(false)

    init(_ begun: RecordChange) { self.begun = begun }

    /// The record that its answer is kept in.
    var key: RecordKey { begun.key }

    /// Whether something of the request is stored.
    public var isCommitted: Bool { isWritten.withLock { $0 } }

    /// The note as a change beside others; nil when there is none under way, or it is written.
    public static func change() -> RecordChange? {
        guard let note = current else { return nil }
        let isFirst = note.isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        return isFirst ? note.begun : nil
    }

    /// Takes the note as not written, when the commit with it has failed.
    public static func takeBack() { current?.isWritten.withLock { $0 = false } }
}
