import ChatModel
import Locking

/// A deed under way: whoever writes records for it takes the entry along, so that both are in one commit.
///
/// It travels with the task, as it concerns every room that writes and none of them in particular.
public final class PendingAuditEntry: Sendable {
    @TaskLocal public static var current: PendingAuditEntry?

    private let log: AuditLog
    private let app: AppID
    private let deed: AuditOperation
    private let isWritten = Lock(false)

    init(_ log: AuditLog, _ deed: AuditOperation, in app: AppID) {
        self.log = log
        self.deed = deed
        self.app = app
    }

    /// The entry as a change beside others; nil when there is no deed under way, or it has its entry.
    static func change(beside changes: [RecordChange]) -> RecordChange? {
        guard let note = current, let first = changes.first else { return nil }
        let isFirst = note.isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        return isFirst ? note.log.change(note.deed, in: note.app, resource: first.key.id) : nil
    }

    /// What was to be written beside the entry was not.
    static func takeBack() { current?.isWritten.withLock { $0 = false } }

    /// Writes the entry if nobody has: what was done changed no record, or was refused.
    ///
    /// - Parameter resource: what it was done to, where that is known only now.
    public func conclude(resource: String?, refusal: String? = nil) async {
        let isFirst = isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        guard isFirst else { return }
        await log.write(deed, in: app, resource: resource, refusal: refusal)
    }
}
