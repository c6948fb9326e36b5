public import ChatModel
import Locking

/// The state of an emit after ``ChatAccess/start(_:claim:)``.
public enum StartedEmit: Sendable {
    /// The events are visible to readers. All of them are ephemeral.
    case emitted(AppendOutcome)
    /// The drafts have passed all checks, including the rules of their channels, and were counted against the rate
    /// limits. They are not appended.
    case appendable(DraftAppend)
    /// The drafts have passed all checks except the rules of their channels, and were counted against the rate limits.
    /// They are not appended.
    case checked([EventDraft])
    /// The validation of a draft takes too long for the event loop. No draft was counted or appended.
    case unchecked([EventDraft])
}

/// The append of drafts that have passed all checks. It needs no task. ``ChatAccess/finish(_:claim:)`` can make it in a
/// task instead.
public final class DraftAppend: Sendable {
    private let log: any EventLog
    private let eventTypes: EventTypes
    private let drafts: [EventDraft]
    private let revision: Revision
    /// The drafts before the rules of their channels were applied.
    private let checked: [EventDraft]
    private let result = Lock<Result<AppendOutcome, ChatError>?>(nil)

    /// - Parameters:
    ///   - drafts: the drafts to append.
    ///   - revision: the oldest revision of the directory at which a rule was read.
    ///   - checked: the drafts before the rules of their channels were applied.
    init(
        _ drafts: [EventDraft], to log: any EventLog, unlessChangedSince revision: Revision, checked: [EventDraft],
        eventTypes: EventTypes
    ) {
        self.log = log
        self.eventTypes = eventTypes
        self.drafts = drafts
        self.revision = revision
        self.checked = checked
    }

    /// Appends the drafts, and calls `completed` on any thread when the result is known. Call ``outcome()`` afterwards,
    /// outside `completed`. Call this method at most once.
    public func begin(_ completed: @escaping @Sendable () -> Void) {
        log.append(drafts, unlessChangedSince: revision) { [self] result in
            self.result.withLock { $0 = result }
            completed()
        }
    }

    /// The emit before the rules of its channels were applied. Pass it to ``ChatAccess/finish(_:claim:)`` if
    /// ``outcome()`` returned nil.
    public var beforeRules: StartedEmit { .checked(checked) }

    /// Returns the outcome of the append, or nil if a record has changed since the checks. Then nothing was appended;
    /// see ``beforeRules``.
    ///
    /// - Throws: the errors of `EventLog.append`, except `.stale`.
    public func outcome() throws(ChatError) -> AppendOutcome? {
        guard let result = result.withLock({ $0 }) else { preconditionFailure("The append has not ended") }
        do throws(ChatError) {
            let outcome = try result.get()
            eventTypes.inspectAppended(outcome)
            return outcome
        } catch {
            guard error.code == .stale else { throw error }
            return nil
        }
    }
}
