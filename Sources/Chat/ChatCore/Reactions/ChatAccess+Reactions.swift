public import ChatModel

extension ChatAccess {
    /// Adds a user's reaction to a message. Repeating the call has no further effect.
    ///
    /// - Parameter user: the user who reacts; nil for the caller's own user.
    /// - Returns: the reaction, and true when it is new.
    /// - Throws: `.notFound` when there is no such message; `.malformed` for a bad value; `.gone` when the message is
    ///   deleted; `.tooMany` when the message has the maximum number of different reactions.
    @discardableResult
    public func react(
        _ value: String, to timetoken: Timetoken, in channel: String, by user: String?
    ) async throws(ChatError) -> (reaction: MessageActionRecord, isNew: Bool) {
        let (context, reaction) = try await reaction(value, timetoken, channel, for: "reaction.added", user)
        let (action, isNew) = try await attach(reaction, context)
        return (action, isNew)
    }

    /// Removes a user's reaction from a message. Does nothing when there is none.
    ///
    /// - Returns: true when a reaction was removed.
    /// - Throws: `.notFound` when there is no such message.
    @discardableResult
    public func removeReaction(
        reaction value: String, to timetoken: Timetoken, in channel: String, by user: String?
    ) async throws(ChatError) -> Bool {
        let (context, reaction) = try await reaction(value, timetoken, channel, for: "reaction.removed", user)
        return try await detach(reaction, context)
    }

    /// Returns one page of the reactions to a message, ordered by value and user.
    ///
    /// - Throws: the errors of ``message(_:in:)``; `.malformed` for a bad query.
    public func reactions(
        to timetoken: Timetoken, in channel: String, _ list: RecordList
    ) async throws(ChatError) -> Page<MessageActionRecord> {
        _ = try await message(timetoken, in: channel)
        return try await actions(
            beginning: MessageActionRecord.prefix(channel, timetoken, MessageActionRecord.reaction), list)
    }

    /// Returns a user's reaction to a message; nil when the user has not reacted with that value.
    ///
    /// - Parameter user: the user who reacted; nil for the caller's own user.
    /// - Throws: the errors of ``message(_:in:)``; `.malformed` when `user` is nil and the caller acts for no user.
    public func reaction(
        _ value: String, to timetoken: Timetoken, in channel: String, by user: String?
    ) async throws(ChatError) -> MessageActionRecord? {
        _ = try await message(timetoken, in: channel)
        guard let user = user ?? caller.user else { throw Self.unnamed }
        let action = MessageActionRecord(
            channel: channel, message: timetoken, type: MessageActionRecord.reaction, value: value, user: user)
        return try await directory.read(action.key(in: app)).flatMap { MessageActionRecord($0) }
    }

    private func reaction(
        _ value: String, _ timetoken: Timetoken, _ channel: String, for type: String, _ user: String?
    ) async throws(ChatError) -> (MessageContext, MessageActionRecord) {
        try Self.check(value, "a reaction", 1...128, field: "value")
        _ = try Self.named(try actor(user, field: "user"))
        let context = try await context(timetoken, in: channel, for: type, by: user)
        let action = MessageActionRecord(
            channel: channel, message: timetoken, type: MessageActionRecord.reaction, value: value,
            user: try Self.named(context.actor))
        return (context, action)
    }

    /// Returns the user of an action.
    ///
    /// - Throws: `.malformed` when the actor is no user, because every action belongs to a user.
    static func named(_ actor: Actor) throws(ChatError) -> String {
        guard let user = actor.user else { throw unnamed }
        return user
    }

    private static let unnamed = ChatError(
        .malformed, "'user', the id of the acting user, is required", slug: "member_missing", field: "user")

    /// Checks the length of a text in Unicode scalars.
    ///
    /// - Parameter field: see `ChatError.field`.
    /// - Throws: `.malformed` for a length out of range.
    static func check(
        _ text: String, _ what: String, _ length: ClosedRange<Int>, field: String
    ) throws(ChatError) {
        guard length.contains(text.unicodeScalars.count) else {
            throw ChatError(
                .malformed, "\(what) must be \(length.lowerBound) to \(length.upperBound) characters long", field: field
            )
        }
    }
}
