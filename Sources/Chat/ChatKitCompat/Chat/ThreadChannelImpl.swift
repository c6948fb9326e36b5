import ChatKit
import ChatModel

/// The replies to a message. They are messages of the message's channel.
public final class ThreadChannelImpl: Sendable, CustomStringConvertible {
    public let chat: ChatImpl
    /// The message that the thread belongs to.
    public let parentMessage: MessageImpl

    init(_ parentMessage: MessageImpl) {
        chat = parentMessage.chat
        self.parentMessage = parentMessage
    }

    /// The name under which programs with PubNub's SDKs have the thread.
    public var id: String { Self.id(of: parentMessage.timetoken, in: parentChannelId) }
    /// The name of the message's channel.
    public var parentChannelId: String { parentMessage.channelId }

    public var description: String { "ThreadChannelImpl(id: \(id))" }

    static func id(of root: Timetoken, in channel: String) -> String { "PUBNUB_INTERNAL_THREAD_\(channel)_\(root)" }

    private var thread: ThreadChannel { parentMessage.message.createThread() }
}

extension ThreadChannelImpl {
    /// Replies with a text, and returns the reply's timetoken. Replies are stored as long as the message's channel stores
    /// them; `shouldStore` and `ttl` have no effect.
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

    /// Replies with a text; see ``sendText(text:params:)``.
    ///
    /// - Parameter completion: receives the reply's timetoken.
    public func sendText(
        text: String, params: SendTextParams = SendTextParams(), completion: ChatCompletion<Timetoken>? = nil
    ) {
        chat.run(completion) { try await self.sendText(text: text, params: params) }
    }

    /// Returns the newest replies between the bounds, oldest first.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound, exclusive.
    ///   - endTimetoken: the lower bound, inclusive.
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

    /// Reads the newest replies between the bounds; see ``getHistory(startTimetoken:endTimetoken:count:)``.
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25,
        completion: ChatCompletion<ChatHistoryPage>? = nil
    ) {
        chat.run(completion) {
            try await self.getHistory(startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }

    /// Returns a reply; nil when it does not exist.
    public func getMessage(timetoken: Timetoken) async throws -> MessageImpl? {
        let root = ChatModel.Timetoken(parentMessage.timetoken)
        let found = try await chat.channel(parentChannelId).getMessage(timetoken: timetoken)
        return found?.message.parentTimetoken == root ? found : nil
    }

    /// Reads a reply; nil when it does not exist.
    public func getMessage(timetoken: Timetoken, completion: ChatCompletion<MessageImpl?>? = nil) {
        chat.run(completion) { try await self.getMessage(timetoken: timetoken) }
    }

    /// Pins a reply in the message's channel, and returns the changed channel.
    public func pinMessageToParentChannel(message: MessageImpl) async throws -> ChannelImpl {
        try await message.pinToParentChannel()
    }

    /// Pins a reply in the message's channel.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pinMessageToParentChannel(message: MessageImpl, completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.pinMessageToParentChannel(message: message) }
    }

    /// Unpins the pinned message of the message's channel, and returns the changed channel.
    public func unpinMessageFromParentChannel() async throws -> ChannelImpl {
        try await chat.channel(parentChannelId).unpinMessage()
    }

    /// Unpins the pinned message of the message's channel.
    ///
    /// - Parameter completion: receives the changed channel.
    public func unpinMessageFromParentChannel(completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.unpinMessageFromParentChannel() }
    }

    /// Calls back with each reply.
    public func onMessageReceived(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        let (chat, root) = (chat, parentMessage.message.timetoken)
        return chat.listen(
            { parentMessage.message.channel.stream.messageReceived() },
            { reply in
                guard reply.parentTimetoken == root, !chat.mutedUsersManager.isMuted(reply.userId) else { return nil }
                return MessageImpl(chat, reply, [])
            }, callback)
    }

    /// Calls back with each reply.
    @available(*, deprecated, renamed: "onMessageReceived")
    public func connect(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        onMessageReceived(callback: callback)
    }
}
