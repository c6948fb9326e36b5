public import ChatModel

/// The state of an emit after ``ChatAccess/start(_:claim:)``.
public enum StartedEmit: Sendable {
    /// The events are visible to readers. All of them are ephemeral.
    case emitted(AppendOutcome)
    /// All checks have passed. The drafts are not appended.
    case appendable(DraftAppend)
    /// The drafts have passed the checks and were counted against the rate limits. They are not appended.
    case checked([EventDraft])
    /// The validation of a draft takes too long for the event loop. No draft was counted or appended.
    case unchecked([EventDraft])
}

/// The append of drafts that have passed all checks. It needs no task. ``ChatAccess/finish(_:claim:)`` does the same in
/// a task.
public struct DraftAppend: Sendable {
    let log: any EventLog
    let eventTypes: EventTypes
    let drafts: [EventDraft]
    /// The oldest revision of the directory at which a rule was read.
    let revision: Revision
    /// The drafts before the rules of their channels were applied.
    let checked: [EventDraft]

    /// Appends the drafts. Passes the result to `completion`, on any thread. Pass it to ``outcome(of:)`` on a thread that
    /// may do work.
    public func begin(_ completion: @escaping @Sendable (Result<AppendOutcome, ChatError>) -> Void) {
        log.append(drafts, unlessChangedSince: revision, completion: completion)
    }

    /// Returns the outcome of the append, or nil if a record has changed since the checks. Then nothing was appended,
    /// and ``ChatAccess/finish(_:claim:)`` must be called.
    ///
    /// - Throws: the errors of `EventLog.append`.
    public func outcome(of result: Result<AppendOutcome, ChatError>) throws(ChatError) -> AppendOutcome? {
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
