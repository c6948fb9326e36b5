public import ChatModel

/// The channel that clients of another service give to a thread. Its name contains the message replied to and that
/// message's channel. In the native API the replies are in the message's channel.
public struct MappedThread: Sendable, Equatable {
    /// The channel of the message replied to.
    public let parent: String
    /// The message replied to.
    public let root: Timetoken

    /// The thread of the message `root` in the channel `parent`.
    public init(parent: String, root: Timetoken) {
        self.parent = parent
        self.root = root
    }

    /// Reads a channel name; nil for the name of any other channel.
    public init?(_ name: String) {
        // Compares bytes: a combining mark after the prefix would hide it from a comparison of characters.
        let bytes = name.utf8
        guard bytes.starts(with: Self.prefix.utf8), let end = bytes.lastIndex(of: UInt8(ascii: "_")),
            let root = Timetoken(text: name[bytes.index(after: end)...]), root.description.utf8.count == 17
        else { return nil }
        let start = bytes.index(bytes.startIndex, offsetBy: Self.prefix.utf8.count)
        guard start < end, bytes[start] != UInt8(ascii: "$") else { return nil }
        parent = String(name[start..<end])
        self.root = root
    }

    /// The name of the channel for the replies.
    public var name: String { "\(Self.prefix)\(parent)_\(root)" }

    /// The prefix of these channels' names.
    public static let prefix = "PUBNUB_INTERNAL_THREAD_"
}

extension ChatAccess {
    /// A message with its changes.
    ///
    /// - Throws: `.notFound` when it does not exist or the caller may not read it.
    public func message(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> Message {
        try await requireAccess(of: channel)
        guard caller.types.match(BuiltInTypes.messageCreated) else { throw Self.noMessage }
        return try await messages(of: [try await sent(timetoken, in: channel)])[0]
    }

    /// A page of a channel's messages, including replies; see `EventLog.history`.
    ///
    /// - Throws: as ``history(_:onWire:)``.
    public func messages(_ request: HistoryRequest) async throws(ChatError) -> Page<Message> {
        var request = request
        request.types = [.exact(BuiltInTypes.messageCreated)]
        let page = try await history([request])[0]
        return Page(items: try await messages(of: page.items), hasMore: page.hasMore, position: page.position)
    }

    /// The messages of events that were read elsewhere, with their changes, in the same order.
    ///
    /// - Throws: the errors of the store.
    public func messages(of events: [Event]) async throws(ChatError) -> [Message] {
        guard !events.isEmpty else { return [] }
        let keys = events.map { MessageRecord.key($0.channel.name, $0.timetoken, in: app) }
        let records = try await directory.read(keys)
        return zip(events, records).map { Message($0, $1.flatMap { MessageRecord($0) }) }
    }

    /// The replies to a message, oldest first by default.
    ///
    /// - Throws: `.notFound` when there is no such message or the caller may not read it; `.malformed` for a bad query.
    public func replies(
        to timetoken: Timetoken, in channel: String, _ list: RecordList
    ) async throws(ChatError) -> Page<Message> {
        _ = try await message(timetoken, in: channel)
        var query = RecordQuery(.message, in: app, limit: list.limit)
        query.parent = MessageRecord.parent(ofRepliesTo: timetoken, in: channel)
        return try await page(query, list, created: \.timetoken) { records async throws(ChatError) in
            var replies: [Message?] = []
            for record in records {
                // A reply whose event has expired or was deleted by range is left out.
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
    /// - Parameter isTyped: true when an event of an app's own types, which is a message with a label, is also
    ///   accepted.
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

    /// True when the message at `timetoken` is a reply in `thread`. False if there is no such message.
    ///
    /// - Throws: the errors of the store.
    public func isReply(_ timetoken: Timetoken, in thread: MappedThread) async throws(ChatError) -> Bool {
        guard let event = try await log.event(at: timetoken, in: app) else { return false }
        return event.draft.thread == thread.root && ExactText(event.channel.name) == ExactText(thread.parent)
    }

    static let noMessage = ChatError(.notFound, "no such message in this channel")
}
