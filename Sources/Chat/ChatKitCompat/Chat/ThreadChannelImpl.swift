import ChatKit
import ChatModel

/// A thread: the replies to a message. Replies are messages of the channel of the parent message.
public final class ThreadChannelImpl: Sendable, CustomStringConvertible {
    /// The chat that the thread belongs to.
    public let chat: ChatImpl
    /// The message to which the thread's messages reply.
    public let parentMessage: MessageImpl

    init(_ parentMessage: MessageImpl) {
        chat = parentMessage.chat
        self.parentMessage = parentMessage
    }

    /// The name that PubNub's SDKs use for the thread.
    public var id: String { Self.id(of: parentMessage.timetoken, in: parentChannelId) }
    /// The name of the channel that contains the parent message.
    public var parentChannelId: String { parentMessage.channelId }

    public var description: String { "ThreadChannelImpl(id: \(id))" }

    static func id(of root: Timetoken, in channel: String) -> String { "PUBNUB_INTERNAL_THREAD_\(channel)_\(root)" }

    private var thread: ThreadChannel { parentMessage.message.createThread() }
}

extension ThreadChannelImpl {
    /// Sends a text message as a reply.
    ///
    /// - Parameters:
    ///   - text: the text of the reply.
    ///   - params: the metadata of the reply. The other options have no effect, because a reply is stored for as long
    ///     as the channel of the parent message stores its messages.
    /// - Returns: the timetoken of the reply.
    /// - Throws: the errors of ``ChannelImpl/sendText(text:params:)``; `resourceNotFound` when the parent message does
    ///   not exist; `conflict` when the parent message is itself a reply.
    @discardableResult
    public func sendText(text: String, params: SendTextParams = SendTextParams()) async throws -> Timetoken {
        try await sendText(text: text, params: params, usersToMention: [])
    }

    func sendText(text: String, params: SendTextParams, usersToMention users: [String]) async throws -> Timetoken {
        let meta = try params.meta?.encoded()
        return try await chat.call { _ in
            try await self.thread.sendText(text, meta: meta, usersToMention: users).rawValue
        }
    }

    /// Sends a text message as a reply; see ``sendText(text:params:)``.
    ///
    /// - Parameter completion: receives the timetoken of the reply.
    public func sendText(
        text: String, params: SendTextParams = SendTextParams(), completion: ChatCompletion<Timetoken>? = nil
    ) {
        chat.run(completion) { try await self.sendText(text: text, params: params) }
    }

    /// Returns the newest replies between the bounds, oldest first. Each call reads the whole thread.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound of the timetokens, exclusive; nil for no bound.
    ///   - endTimetoken: the lower bound of the timetokens, inclusive; nil for no bound.
    ///   - count: the maximum number of replies.
    /// - Throws: `resourceNotFound` when the parent message does not exist; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25
    ) async throws -> ChatHistoryPage {
        try await chat.call { _ in
            var replies: [ChatKit.Message] = []
            var page: String?
            repeat {
                let found = try await self.thread.getHistory(limit: 250, page: page)
                replies += found.messages
                page = found.page
            } while page != nil
            let bounds = (endTimetoken ?? 0)...max((startTimetoken ?? .max) - 1, endTimetoken ?? 0)
            let inside = replies.filter { bounds.contains($0.timetoken.rawValue) }
            return (try await self.chat.messages(Array(inside.suffix(max(count, 0)))), inside.count > count)
        }
    }

    /// Reads the newest replies between the bounds, oldest first; see
    /// ``getHistory(startTimetoken:endTimetoken:count:)``.
    ///
    /// - Parameter completion: receives the newest replies between the bounds, oldest first.
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25,
        completion: ChatCompletion<ChatHistoryPage>? = nil
    ) {
        chat.run(completion) {
            try await self.getHistory(startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }

    /// Returns the reply with a timetoken, or nil when the thread has no reply with this timetoken.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getMessage(timetoken: Timetoken) async throws -> MessageImpl? {
        let root = ChatModel.Timetoken(parentMessage.timetoken)
        let found = try await chat.channel(parentChannelId).getMessage(timetoken: timetoken)
        return found?.message.parentTimetoken == root ? found : nil
    }

    /// Reads the reply with a timetoken; see ``getMessage(timetoken:)``.
    ///
    /// - Parameter completion: receives the reply; nil when the thread has no reply with this timetoken.
    public func getMessage(timetoken: Timetoken, completion: ChatCompletion<MessageImpl?>? = nil) {
        chat.run(completion) { try await self.getMessage(timetoken: timetoken) }
    }

    /// Pins a reply in the channel of the parent message. The chat's user must be a moderator of the channel.
    ///
    /// - Returns: the changed channel.
    /// - Throws: the errors of ``MessageImpl/pin()``.
    public func pinMessageToParentChannel(message: MessageImpl) async throws -> ChannelImpl {
        try await message.pinToParentChannel()
    }

    /// Pins a reply in the channel of the parent message.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pinMessageToParentChannel(message: MessageImpl, completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.pinMessageToParentChannel(message: message) }
    }

    /// Unpins the pinned message of the channel that contains the parent message. Does nothing when no message is
    /// pinned.
    ///
    /// - Returns: the changed channel.
    /// - Throws: the errors of ``ChannelImpl/unpinMessage()``.
    public func unpinMessageFromParentChannel() async throws -> ChannelImpl {
        try await chat.channel(parentChannelId).unpinMessage()
    }

    /// Unpins the pinned message of the channel that contains the parent message.
    ///
    /// - Parameter completion: receives the changed channel.
    public func unpinMessageFromParentChannel(completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.unpinMessageFromParentChannel() }
    }

    /// Calls back with each new reply, except replies of muted users.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onMessageReceived(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        let (chat, root) = (chat, parentMessage.message.timetoken)
        return chat.listen(
            { parentMessage.message.channel.stream.messageReceived() },
            { reply in
                guard reply.parentTimetoken == root, !chat.mutedUsersManager.isMuted(reply.userId) else { return nil }
                return MessageImpl(chat, reply, [])
            }, callback)
    }

    /// The older name of ``onMessageReceived(callback:)``.
    @available(*, deprecated, renamed: "onMessageReceived")
    public func connect(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        onMessageReceived(callback: callback)
    }
}
