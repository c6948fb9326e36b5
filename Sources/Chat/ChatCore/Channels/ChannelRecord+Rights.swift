import ChatModel

extension ChannelRecord {
    func isOperator(_ user: String) -> Bool { operators.contains { ExactText($0) == ExactText(user) } }

    /// True when the user is one of the two users of a direct channel.
    func isOfPair(_ user: String) -> Bool { pair.contains { ExactText($0) == ExactText(user) } }

    /// The audience of events about the record.
    var listeners: Audience { .rule(kind.hasMembers ? .members : .participants) }
}

extension ChatAccess {
    /// Returns the channel's record.
    ///
    /// - Throws: `.notFound` when there is none. A channel without a record has neither members nor operators.
    func existing(_ name: String, in snapshot: RecordSnapshot) throws(ChatError) -> ChannelRecord {
        guard let record = snapshot[ChannelRecord.key(name, in: app)].flatMap(ChannelRecord.init) else {
            throw .noChannelRecord(name)
        }
        return record
    }

    /// Checks the name of a channel that has or gets a record, and that the caller may use the channel.
    func requireRecord(of name: String) throws(ChatError) {
        try Self.check(recordOf: name)
        try caller.require(channel: name)
    }

    private static func check(recordOf name: String) throws(ChatError) {
        try Names.check(channel: name)
        guard name != ChannelID.systemName else {
            throw ChatError(.malformed, "'\(name)' is the gateway's own channel; it has no record", field: "channel")
        }
    }

    /// Checks that the caller may read a channel's record and members.
    ///
    /// - Throws: `.forbidden`, slug `not_a_member`.
    func requireVisible(of name: String) async throws(ChatError) {
        try caller.require(.read)
        try Self.check(recordOf: name)
        try caller.require(reading: name)
        try await require(.knowing, of: caller.user, in: name)
    }
}

extension ChatError {
    static func noChannelRecord(_ name: String) -> ChatError {
        ChatError(.notFound, "channel '\(name)' has no record; make one with PUT /v1/channels/{channel}")
    }
}
