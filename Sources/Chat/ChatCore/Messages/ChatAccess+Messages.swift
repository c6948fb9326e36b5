public import ChatModel

extension ChatAccess {
    /// A message as it is now.
    ///
    /// - Throws: `.notFound` when there is none, or none the caller may read.
    public func message(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> Message {
        try await demandHearing(of: channel)
        guard caller.types.match(BuiltInTypes.messageCreated) else { throw Self.noMessage }
        return try await messages(of: [try await sent(timetoken, in: channel)])[0]
    }

    /// A page of a channel's messages, replies among them; see `EventLog.history`.
    public func messages(_ request: HistoryRequest) async throws(ChatError) -> Page<Message> {
        var request = request
        request.types = [.exact(BuiltInTypes.messageCreated)]
        let page = try await history([request])[0]
        return Page(items: try await messages(of: page.items), hasMore: page.hasMore, position: page.position)
    }

    /// What became of messages that were read elsewhere, in their order.
    public func messages(of events: [Event]) async throws(ChatError) -> [Message] {
        guard !events.isEmpty else { return [] }
        let keys = events.map { MessageRecord.key($0.channel.name, $0.timetoken, in: app) }
        let records = try await directory.read(keys)
        return zip(events, records).map { Message($0, $1.flatMap { MessageRecord($0) }) }
    }

    /// The replies to a message, oldest first unless asked otherwise.
    public func replies(
        to timetoken: Timetoken, in channel: String, _ list: RecordList
    ) async throws(ChatError) -> Page<Message> {
        _ = try await message(timetoken, in: channel)
        var query = RecordQuery(.message, in: app, limit: list.limit)
        query.parent = MessageRecord.parent(ofRepliesTo: timetoken, in: channel)
        return try await page(query, list, created: \.timetoken) { records async throws(ChatError) in
            var replies: [Message?] = []
            for record in records {
                // One whose event has expired, or was deleted with a stretch of history, is none any more.
                guard let reply = MessageRecord(record), let event = try await log.event(at: reply.timetoken, in: app)
                else {
                    replies.append(nil)
                    continue
                }
                replies.append(Message(event, reply))
            }
            return replies
        }
    }

    /// The event of a kept message.
    ///
    /// - Parameter isTyped: whether an event of an app's own types, which is a message with a label, does as well.
    /// - Throws: `.notFound`.
    func sent(
        _ timetoken: Timetoken, in channel: String, orTyped isTyped: Bool = false
    ) async throws(ChatError) -> Event {
        guard let event = try await log.event(at: timetoken, in: app), event.retention == .kept,
            event.type == BuiltInTypes.messageCreated || (isTyped && event.kind == .message),
            ExactText(event.channel.name) == ExactText(channel)
        else { throw Self.noMessage }
        return event
    }

    /// Whether a message of the channel belongs to that thread.
    public func isReply(_ timetoken: Timetoken, in thread: MappedThread) async throws(ChatError) -> Bool {
        guard let event = try await log.event(at: timetoken, in: app) else { return false }
        return event.draft.thread == thread.root && ExactText(event.channel.name) == ExactText(thread.parent)
    }

    static let noMessage = ChatError(.notFound, "no such message in this channel")
}
