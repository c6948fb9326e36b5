public import ChatModel
import Locking

/// A request under way that is carried out once, however often it comes (`Idempotency-Key`): whoever writes records for it
/// takes the note along, so that both are in one commit.
///
/// It travels with the task, as ``PendingAuditEntry`` does.
public final class PendingAnswer: Sendable {
    @TaskLocal public static var current: PendingAnswer?

    private let begun: RecordChange
    private let isWritten = Lock(false)
    private let subject = Lock<String?>(nil)

    init(_ begun: RecordChange) { self.begun = begun }

    /// The record that its answer is kept in.
    var key: RecordKey { begun.key }

    /// Says which message's text the answer will hold, before the request's first change: the answer goes with the message.
    func concern(_ message: Timetoken, in channel: ChannelID) {
        subject.withLock { $0 = StoredAnswers.parent(ofAnswersAbout: message, in: channel) }
    }

    /// What its record is listed under; nil for most.
    var parent: String? { subject.withLock { $0 } }

    /// The note as a change beside others; nil when there is none under way, or it is written.
    public static func change() -> RecordChange? { current?.take() }

    /// Takes the note as not written, when the commit with it has failed.
    public static func takeBack() { current?.takeBack() }

    func take() -> RecordChange? {
        let isFirst = isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        guard isFirst else { return nil }
        var begun = begun
        begun.parent = parent
        return begun
    }

    func takeBack() { isWritten.withLock { $0 = false } }
}
