public import ChatModel

extension Channel {
    /// Sends a text.
    ///
    /// - Parameters:
    ///   - meta: facts about the message that filters can read.
    ///   - usersToMention: they are told on their own channels.
    ///   - mentionsEverybody: everybody in the channel is told, instead of single users.
    ///   - quoting: the message it quotes.
    ///   - storeInHistory: whether history keeps it.
    ///   - ttlHours: how long; nil: as long as the app keeps events.
    @discardableResult
    public func sendText(
        _ text: String, meta: [String: any JSONCodable]? = nil, usersToMention: [String] = [],
        mentionsEverybody: Bool = false, quoting quotedMessage: Message? = nil, storeInHistory: Bool = true,
        ttlHours: Int? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(text: text, on: id)
        posting.meta = meta?.object.text
        posting.isStored = storeInHistory
        posting.hours = storeInHistory ? ttlHours : nil
        var ties = MessageReferences()
        ties.quote = quotedMessage?.timetoken
        ties.mentions = usersToMention
        ties.mentionsEverybody = mentionsEverybody
        return try await chat.backend.send(posting, ties)
    }

    /// The newest messages between the bounds, oldest first.
    ///
    /// - Parameters:
    ///   - startTimetoken: only older messages; exclusive.
    ///   - endTimetoken: only this and newer messages; inclusive.
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25
    ) async throws(ChatError) -> (messages: [Message], isMore: Bool) {
        var query = EventQuery(channel: id)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        let page = try await chat.backend.messages(query)
        return (page.items.reversed().map { Message(chat: chat, $0) }, page.hasMore)
    }

    /// A message; nil when there is none.
    public func getMessage(timetoken: Timetoken) async throws(ChatError) -> Message? {
        try await chat.backend.message(timetoken, in: id).map { Message(chat: chat, $0) }
    }

    /// The message that is shown first; nil when none is pinned.
    public func getPinnedMessage() async throws(ChatError) -> Message? {
        guard let timetoken = try await chat.getChannel(channelId: id)?.pinnedMessageTimetoken else { return nil }
        return try await getMessage(timetoken: timetoken)
    }

    /// Reports of the channel's messages, oldest first; for those who moderate it. Bounds as in
    /// ``Chat/getEventsHistory(channelId:startTimetoken:endTimetoken:count:)``.
    public func getMessageReportsHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25
    ) async throws(ChatError) -> (events: [EventWrapper<Report>], isMore: Bool) {
        var query = EventQuery(channel: id)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        let page = try await chat.backend.reports(query)
        return (page.items.reversed().map { $0.wrapped(Report(AnyJSON($0.data))) }, page.hasMore)
    }
}

extension OutgoingMessage {
    /// A text as every reader of messages understands it.
    init(text: String, on channel: String) {
        self.init(.message, on: channel, data: AnyJSON.object(["text": .string(text)]).text)
    }
}
