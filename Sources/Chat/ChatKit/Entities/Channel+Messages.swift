public import ChatModel

extension Channel {
    /// Sends a text message.
    ///
    /// - Parameters:
    ///   - meta: metadata, which filters can read.
    ///   - usersToMention: the ids of mentioned users. Each of them receives an event on the user's own channel.
    ///   - mentionsEverybody: true mentions every user of the channel instead of single users.
    ///   - quoting: the message to quote.
    ///   - storeInHistory: true when history stores the message.
    ///   - ttlHours: the number of hours for which history stores the message; nil or 0 selects the app's retention.
    /// - Throws: `.forbidden` when the user may not write in the channel; `.malformed` when `meta` cannot be encoded;
    ///   `.notFound` when the quoted message does not exist; `.gone` when the quoted message is deleted; `.tooLarge`
    ///   when the message is too long; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func sendText(
        _ text: String, meta: [String: any JSONCodable]? = nil, usersToMention: [String] = [],
        mentionsEverybody: Bool = false, quoting quotedMessage: Message? = nil, storeInHistory: Bool = true,
        ttlHours: Int? = nil
    ) async throws(ChatError) -> Timetoken {
        var posting = OutgoingMessage(text: text, on: id)
        posting.meta = try meta?.encodedObject().text
        posting.isStored = storeInHistory
        posting.hours = storeInHistory ? ttlHours : nil
        var links = MessageReferences()
        links.quote = quotedMessage?.timetoken
        links.mentions = usersToMention
        links.mentionsEverybody = mentionsEverybody
        return try await chat.backend.send(posting, links)
    }

    /// Returns the newest `count` messages between the bounds, oldest first. `isMore` is true when there are more
    /// messages between the bounds.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound, exclusive; nil for no bound.
    ///   - endTimetoken: the lower bound, inclusive; nil for no bound.
    /// - Throws: `.forbidden` when the user may not read the channel; `.malformed` for a count that the gateway
    ///   rejects; the errors common to all calls (see ``Chat``).
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25
    ) async throws(ChatError) -> (messages: [Message], isMore: Bool) {
        var query = EventQuery(channel: id)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        let page = try await chat.backend.messages(query)
        return (page.items.reversed().map { Message(chat: chat, $0) }, page.hasMore)
    }

    /// Returns a message, or nil when it does not exist.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; the errors common to all calls (see ``Chat``).
    public func getMessage(timetoken: Timetoken) async throws(ChatError) -> Message? {
        try await chat.backend.message(timetoken, in: id).map { Message(chat: chat, $0) }
    }

    /// Returns the pinned message, or nil when none is pinned.
    ///
    /// - Throws: `.forbidden` when the user may not read the channel; the errors common to all calls (see ``Chat``).
    public func getPinnedMessage() async throws(ChatError) -> Message? {
        guard let timetoken = try await chat.getChannel(channelId: id)?.pinnedMessageTimetoken else { return nil }
        return try await getMessage(timetoken: timetoken)
    }

    /// Returns reports of the channel's messages, oldest first. The user must be a moderator of the channel. The bounds
    /// work as in ``Chat/getEventsHistory(channelId:startTimetoken:endTimetoken:count:types:)``.
    ///
    /// - Throws: `.forbidden` when the user is not a moderator of the channel; `.malformed` for a count that the
    ///   gateway rejects; the errors common to all calls (see ``Chat``).
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
    /// Creates a text message. The payload is an object with the member `text`, which every client can read.
    init(text: String, on channel: String) {
        self.init(.message, on: channel, data: AnyJSON.object(["text": .string(text)]).text)
    }
}
