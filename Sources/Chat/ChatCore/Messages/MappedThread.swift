public import ChatModel

/// The channel by which PubNub clients address a thread. Its name contains the channel and the timetoken of the
/// thread's first message. In the native API, the replies are in the channel of that first message.
public struct MappedThread: Sendable, Equatable {
    /// The channel of the thread's first message.
    public let parent: String
    /// The timetoken of the thread's first message.
    public let root: Timetoken

    /// Creates the thread whose first message is `root` in the channel `parent`.
    public init(parent: String, root: Timetoken) {
        self.parent = parent
        self.root = root
    }

    /// Parses the name of a thread's channel; nil for any other name.
    public init?(_ name: String) {
        // Compares bytes, because a combining mark after the prefix would change its last character.
        let bytes = name.utf8
        guard bytes.starts(with: Self.prefix.utf8), let end = bytes.lastIndex(of: UInt8(ascii: "_")),
            let root = Timetoken(text: name[bytes.index(after: end)...]), root.description.utf8.count == 17
        else { return nil }
        let start = bytes.index(bytes.startIndex, offsetBy: Self.prefix.utf8.count)
        guard start < end, bytes[start] != UInt8(ascii: "$") else { return nil }
        parent = String(name[start..<end])
        self.root = root
    }

    /// The name of the channel by which PubNub clients address the thread.
    public var name: String { "\(Self.prefix)\(parent)_\(root)" }

    /// The prefix of the names of threads' channels.
    public static let prefix = "PUBNUB_INTERNAL_THREAD_"
}

extension ChatAccess {
    /// Returns a message with its edits, deletion, reactions and replies.
    ///
    /// - Throws: `.notFound` when the message does not exist, or its type is not among the caller's types; `.forbidden`
    ///   when the caller may not read the channel.
    public func message(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> Message {
        try await requireAccess(of: channel)
        guard caller.types.match(BuiltInTypes.messageCreated) else { throw Self.noMessage }
        return try await messages(of: [try await sent(timetoken, in: channel)])[0]
    }

    /// Returns one page of a channel's messages, including replies; see `EventLog.history`.
    ///
    /// - Throws: the errors of ``history(_:onWire:)``.
    public func messages(_ request: HistoryRequest) async throws(ChatError) -> Page<Message> {
        var request = request
        request.types = [.exact(BuiltInTypes.messageCreated)]
        let page = try await history([request])[0]
        return Page(items: try await messages(of: page.items), hasMore: page.hasMore, position: page.position)
    }

    /// Returns the messages of events that were already read, with their changes and in the same order.
    ///
    /// - Throws: the errors of the store.
    public func messages(of events: [Event]) async throws(ChatError) -> [Message] {
        guard !events.isEmpty else { return [] }
        let keys = events.map { MessageRecord.key($0.channel.name, $0.timetoken, in: app) }
        let records = try await directory.read(keys)
        return zip(events, records).map { Message($0, $1.flatMap { MessageRecord($0) }) }
    }

    /// Returns the replies to a message, oldest first by default.
    ///
    /// - Throws: the errors of ``message(_:in:)``; `.malformed` for a bad query.
    public func replies(
        to timetoken: Timetoken, in channel: String, _ list: RecordList
    ) async throws(ChatError) -> Page<Message> {
        _ = try await message(timetoken, in: channel)
        var query = RecordQuery(.message, in: app, limit: list.limit)
        query.parent = MessageRecord.parent(ofRepliesTo: timetoken, in: channel)
        return try await page(query, list, created: \.timetoken) { records async throws(ChatError) in
            var replies: [Message?] = []
            for record in records {
                // A reply whose event has expired or was deleted by range is not returned.
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

    /// Returns the event of a stored message.
    ///
    /// - Parameter isTyped: true to also accept an event of an app's own type that counts as a message.
    /// - Throws: `.notFound` when the channel has no such message.
    func sent(
        _ timetoken: Timetoken, in channel: String, orTyped isTyped: Bool = false
    ) async throws(ChatError) -> Event {
        guard let event = try await log.event(at: timetoken, in: app), event.retention == .kept,
            event.type == BuiltInTypes.messageCreated || (isTyped && event.kind == .message),
            ExactText(event.channel.name) == ExactText(channel)
        else { throw Self.noMessage }
        return event
    }

    /// Returns true when the message at `timetoken` is a reply in `thread`; false when the message does not exist.
    ///
    /// - Throws: the errors of the store.
    public func isReply(_ timetoken: Timetoken, in thread: MappedThread) async throws(ChatError) -> Bool {
        guard let event = try await log.event(at: timetoken, in: app) else { return false }
        return event.draft.thread == thread.root && ExactText(event.channel.name) == ExactText(thread.parent)
    }

    static let noMessage = ChatError(.notFound, "the channel has no message with this timetoken")
}
