import ChatModel

extension ChannelRecord {
    func isOperator(_ user: String) -> Bool { operators.contains { ExactText($0) == ExactText(user) } }

    /// Returns true when the user is one of the two users of a direct channel.
    func isOfPair(_ user: String) -> Bool { pair.contains { ExactText($0) == ExactText(user) } }

    /// The audience of events about the channel's record: its members or, in an open channel, the users inside.
    var listeners: Audience { .rule(kind.hasMembers ? .members : .participants) }
}

extension ChatAccess {
    /// Returns the record of a channel from a snapshot.
    ///
    /// - Throws: `.notFound` when the channel has no record. Such a channel has no members and no operators.
    func existing(_ name: String, in snapshot: RecordSnapshot) throws(ChatError) -> ChannelRecord {
        guard let record = snapshot[ChannelRecord.key(name, in: app)].flatMap(ChannelRecord.init) else {
            throw .noChannelRecord(name)
        }
        return record
    }

    /// Checks the name of a channel that has or will get a record, and requires that the caller's patterns cover the
    /// channel.
    func requireRecord(of name: String) throws(ChatError) {
        try Self.check(recordOf: name)
        try caller.require(channel: name)
    }

    private static func check(recordOf name: String) throws(ChatError) {
        try Names.check(channel: name)
        guard name != ChannelID.systemName else {
            throw ChatError(
                .malformed,
                "channel '\(name)' is reserved for the gateway and cannot have a record; name another channel",
                field: "channel")
        }
    }

    /// Checks that the caller may read a channel's record and members.
    ///
    /// - Throws: `.forbidden` without the scope `read` or the right to read the channel; the slug is `not_a_member` for
    ///   a user who is not a member of a private channel.
    func requireVisible(of name: String) async throws(ChatError) {
        try caller.require(.read)
        try Self.check(recordOf: name)
        try caller.require(reading: name)
        try await require(.knowing, of: caller.user, in: name)
    }
}

extension ChatError {
    static func noChannelRecord(_ name: String) -> ChatError {
        ChatError(.notFound, "channel '\(name)' has no record; create one with PUT /v1/channels/{channel}")
    }
}
