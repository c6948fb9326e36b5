package import ChatModel

/// The errors of every storage engine.
extension ChatError {
    package static let storeUnavailable = ChatError(
        .unavailable, "the store is unavailable; nothing was stored", retryAfter: .seconds(1))
    package static let storeUnreadable = ChatError(
        .unavailable, "the store cannot be read; try again", retryAfter: .seconds(1))
    package static let outcomeUnknown = ChatError(
        .outcomeUnknown, "the store failed during the commit, so the change may or may not have been stored",
        retryAfter: .seconds(1))
    package static let storageFull = ChatError(.storageFull, "the disk is full; nothing was stored")
    package static let dataTooLarge = ChatError(.tooLarge, "the data is larger than the database can store")
    package static let overloaded = ChatError(
        .overloaded, "too many writes wait for the store; nothing was stored, so try again", retryAfter: .seconds(1))
    package static let closing = ChatError(
        .unavailable, "the gateway is stopping; nothing was stored", retryAfter: .seconds(1))
    package static let claimConflict = ChatError(
        .conflict, "this Idempotency-Key was used with another request; use a new key")
    package static let permissionsChanged = ChatError(
        .stale, "the permissions of the channel changed during the request; send the request again")
    package static let importNotInPast = ChatError(.invalid, "an imported event's timetoken must be in the past")
    package static let badCursor = ChatError(
        .malformed, "the cursor does not belong to this list; send a cursor that the same list returned",
        slug: "bad_cursor", field: "cursor")

    /// The error of a decision that requires an event which has been removed.
    package static func eventGone(_ timetoken: Timetoken) -> ChatError {
        ChatError(.notFound, "the event with the timetoken \(timetoken) no longer exists")
    }

    /// The error of a planner whose stored position is not `from`.
    package static func cursorMoved(_ cursor: CursorName, from: Timetoken) -> ChatError {
        ChatError(.conflict, "the cursor '\(cursor.text)' is not at \(from)")
    }

    package static func unknownSubscriber(_ subscriber: SubscriberID) -> ChatError {
        ChatError(.notFound, "no webhook or subscription has the id '\(subscriber.name)'")
    }
}
