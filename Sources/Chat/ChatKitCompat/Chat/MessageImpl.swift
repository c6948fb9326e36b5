import ChatKit
import ChatModel
import ChatRemote

/// A message, as it was when it was read.
public final class MessageImpl: Sendable, CustomStringConvertible {
    public let chat: ChatImpl
    let message: ChatKit.Message
    private let reactors: [ChatKit.Reaction]

    /// - Parameter reactors: the reactions with their users.
    init(_ chat: ChatImpl, _ message: ChatKit.Message, _ reactors: [ChatKit.Reaction]) {
        self.chat = chat
        self.message = message
        self.reactors = reactors
    }

    /// The message's id in its channel, and the time at which it was sent.
    public var timetoken: Timetoken { message.timetoken.rawValue }
    /// The content: the newest text.
    public var content: EventContent.TextMessageContent { EventContent.TextMessageContent(text: text) }
    /// The channel's name. A reply has that of its root's channel.
    public var channelId: String { message.channelId }
    /// The author's id; empty when the gateway or an operator sent the message.
    public var userId: String { message.userId }
    /// The metadata with which the message was sent.
    public var meta: [String: any JSONCodable]? { message.meta?.members }
    /// The quoted message as it was when it was quoted.
    public var quotedMessage: QuotedMessage? {
        message.quotedMessage.map {
            QuotedMessage(timetoken: $0.timetoken.rawValue, text: $0.text, userId: $0.userId)
        }
    }
    /// The newest text; empty when the message is deleted or has no text.
    public var text: String { message.text }
    /// True after a soft deletion.
    public var deleted: Bool { message.isDeleted }
    /// True when the message has replies.
    public var hasThread: Bool { message.hasThread }
    /// Always `text`.
    public var type: String { "text" }

    /// The reactions with their users.
    public var reactions: [MessageReaction] {
        actions?["reactions"]?.map { value, actions in
            let users = actions.map(\.uuid)
            return MessageReaction(
                value: value, isMine: users.contains(message.chat.userId), userIds: users)
        }.sorted { $0.value < $1.value } ?? []
    }

    /// The reactions by type (`reactions`) and value; nil when there are none. Edits and deletions are not among them.
    public var actions: [String: [String: [Action]]]? {
        guard !reactors.isEmpty else { return nil }
        let byValue = Dictionary(grouping: reactors.sorted { $0.timetoken < $1.timetoken }, by: \.value)
        return [
            "reactions": byValue.mapValues { reactions in
                reactions.map { Action(uuid: $0.userId, actionTimetoken: $0.timetoken.rawValue) }
            }
        ]
    }

    /// The channel of the thread that the reply belongs to; the message's own channel when it is no reply.
    public var parentChannelId: String { message.channelId }

    public var description: String { "MessageImpl(timetoken: \(timetoken), channelId: \(channelId), text: \(text))" }

    /// The sequences of the message's events.
    public var stream: MessageStream { MessageStream(message: self) }

    /// Returns true when the chat's user has reacted with a value.
    public func hasUserReaction(reaction: String) -> Bool {
        reactions.contains { $0.value == reaction && $0.isMine }
    }
}

/// A reply: a message of the root's channel.
public typealias ThreadMessageImpl = MessageImpl

extension ChatImpl {
    /// Reads the reactions of a message with their users, if it has any.
    func message(_ message: ChatKit.Message) async throws -> MessageImpl {
        guard !message.reactions.isEmpty else { return MessageImpl(self, message, []) }
        do throws(ChatError) {
            return MessageImpl(self, message, try await message.getReactions())
        } catch {
            // The message was deleted in the meantime.
            guard error.code == .notFound || error.code == .gone else { throw error }
            return MessageImpl(self, message, [])
        }
    }

    /// Reads the reactions of messages with their users.
    func messages(_ messages: [ChatKit.Message]) async throws -> [MessageImpl] {
        try await concurrently(messages) { try await self.message($0) }
    }
}

extension MessageImpl {
    /// Replaces the text, and returns the changed message.
    public func editText(newText: String) async throws -> MessageImpl {
        try await chat.call { _ in try await self.chat.message(try await self.message.editText(newText)) }
    }

    /// Replaces the text.
    ///
    /// - Parameter completion: receives the changed message.
    public func editText(newText: String, completion: ChatCompletion<MessageImpl>? = nil) {
        chat.run(completion) { try await self.editText(newText: newText) }
    }

    /// Deletes the message.
    ///
    /// - Parameters:
    ///   - soft: true marks the message as deleted and keeps it in history; false removes it from history.
    ///   - preserveFiles: accepted; the gateway stores no files.
    /// - Returns: the marked message; nil when it was removed.
    @discardableResult
    public func delete(soft: Bool = false, preserveFiles: Bool = false) async throws -> MessageImpl? {
        try await chat.call { _ in
            try await self.message.delete(soft: soft)
            return soft ? try await self.refreshed() : nil
        }
    }

    /// Deletes the message; see ``delete(soft:preserveFiles:)``.
    ///
    /// - Parameter completion: receives the marked message; nil when it was removed.
    public func delete(
        soft: Bool = false, preserveFiles: Bool = false, completion: ChatCompletion<MessageImpl?>? = nil
    ) {
        chat.run(completion) { try await self.delete(soft: soft, preserveFiles: preserveFiles) }
    }

    /// Undoes a soft deletion, and returns the message with its content, replies and reactions.
    public func restore() async throws -> MessageImpl {
        try await chat.call { _ in try await self.chat.message(try await self.message.restore()) }
    }

    /// Undoes a soft deletion.
    ///
    /// - Parameter completion: receives the message with its content, replies and reactions.
    public func restore(completion: ChatCompletion<MessageImpl>? = nil) {
        chat.run(completion) { try await self.restore() }
    }

    /// Adds the user's reaction with a value, or removes it when it exists. Returns the changed message.
    @discardableResult
    public func toggleReaction(reaction: String) async throws -> MessageImpl {
        try await chat.call { _ in try await self.chat.message(try await self.message.toggleReaction(reaction)) }
    }

    /// Adds the user's reaction with a value, or removes it when it exists.
    ///
    /// - Parameter completion: receives the changed message.
    public func toggleReaction(reaction: String, completion: ChatCompletion<MessageImpl>? = nil) {
        chat.run(completion) { try await self.toggleReaction(reaction: reaction) }
    }

    /// Sends the message to another channel, and returns the timetoken of the copy.
    @discardableResult
    public func forward(channelId: String) async throws -> Timetoken {
        try await chat.call { _ in try await self.message.forward(to: channelId).rawValue }
    }

    /// Sends the message to another channel.
    ///
    /// - Parameter completion: receives the timetoken of the copy.
    public func forward(channelId: String, completion: ChatCompletion<Timetoken>? = nil) {
        chat.run(completion) { try await self.forward(channelId: channelId) }
    }

    /// Pins the message in its channel, and returns the changed channel.
    public func pin() async throws -> ChannelImpl {
        try await chat.call { _ in
            try await self.message.pin()
            return try await self.chat.channel(self.channelId)
        }
    }

    /// Pins the message in its channel.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pin(completion: ChatCompletion<ChannelImpl>? = nil) { chat.run(completion) { try await self.pin() } }

    /// Pins a reply in the root's channel, and returns the changed channel.
    public func pinToParentChannel() async throws -> ChannelImpl { try await pin() }

    /// Pins a reply in the root's channel.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pinToParentChannel(completion: ChatCompletion<ChannelImpl>? = nil) { pin(completion: completion) }

    /// Unpins a reply from the root's channel, and returns the changed channel.
    public func unpinFromParentChannel() async throws -> ChannelImpl {
        try await chat.call { _ in
            try await self.message.unpin()
            return try await self.chat.channel(self.channelId)
        }
    }

    /// Unpins a reply from the root's channel.
    ///
    /// - Parameter completion: receives the changed channel.
    public func unpinFromParentChannel(completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.unpinFromParentChannel() }
    }

    /// Reports the message to the channel's moderators.
    ///
    /// - Returns: the time at which the report was made.
    @discardableResult
    public func report(reason: String) async throws -> Timetoken {
        try await chat.withBackend { backend in
            try await self.message.report(reason: reason)
            return try await backend.time().rawValue
        }
    }

    /// Reports the message to the channel's moderators.
    ///
    /// - Parameter completion: receives the time at which the report was made.
    public func report(reason: String, completion: ChatCompletion<Timetoken>? = nil) {
        chat.run(completion) { try await self.report(reason: reason) }
    }

    private func refreshed() async throws -> MessageImpl? {
        guard let message = try await message.channel.getMessage(timetoken: message.timetoken) else { return nil }
        return try await chat.message(message)
    }
}

// MARK: - Threads

extension MessageImpl {
    /// Returns the thread of the message. It begins with its first reply.
    public func createThread() async throws -> ThreadChannelImpl { ThreadChannelImpl(self) }

    /// Passes the thread of the message to the closure. It begins with its first reply.
    public func createThread(completion: ChatCompletion<ThreadChannelImpl>? = nil) {
        chat.run(completion) { try await self.createThread() }
    }

    /// Begins a thread with a reply, and returns the thread and the changed message.
    public func createThread(
        text: String, params: SendTextParams = SendTextParams()
    ) async throws -> CreateThreadResult {
        let thread = ThreadChannelImpl(self)
        try await thread.sendText(text: text, params: params)
        let parent = try await chat.call { _ in try await self.refreshed() }
        return CreateThreadResult(threadChannel: thread, parentMessage: parent ?? self)
    }

    /// Begins a thread with a reply.
    ///
    /// - Parameter completion: receives the thread and the changed message.
    public func createThread(
        text: String, params: SendTextParams = SendTextParams(), completion: ChatCompletion<CreateThreadResult>? = nil
    ) {
        chat.run(completion) { try await self.createThread(text: text, params: params) }
    }

    /// Returns the thread of the message. Fails with `resourceNotFound` when the message has no replies.
    public func getThread() async throws -> ThreadChannelImpl {
        guard try await chat.call({ _ in try await self.refreshed() })?.hasThread == true else {
            throw PubNubError(
                .resourceNotFound,
                details: ["the message \(timetoken) has no thread; createThread(text:params:) begins one"])
        }
        return ThreadChannelImpl(self)
    }

    /// Reads the thread of the message. Fails with `resourceNotFound` when the message has no replies.
    public func getThread(completion: ChatCompletion<ThreadChannelImpl>? = nil) {
        chat.run(completion) { try await self.getThread() }
    }
}

extension MessageImpl {
    /// Deletes all replies to the message. Requires a moderator of the channel when other users have replied.
    public func removeThread() async throws {
        try await chat.call { _ in
            let thread = self.message.createThread()
            while true {
                let replies = try await thread.getHistory(limit: 250).messages
                if replies.isEmpty { return }
                for reply in replies { try await reply.delete() }
            }
        }
    }

    /// Deletes all replies to the message; see ``removeThread()``.
    public func removeThread(completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.removeThread() }
    }
}

// MARK: - Events

extension MessageImpl {
    /// Calls back with the message after each edit, deletion, reaction and reply.
    public func onUpdated(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        let chat = chat
        return chat.listen({ message.stream.updated() }, { try await chat.message($0) }, callback)
    }

    /// Calls back with the message after each edit, deletion, reaction and reply.
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(completion: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        onUpdated(callback: completion)
    }

    /// Calls back with all messages after each change of one of them.
    @available(*, deprecated, message: "use onUpdated of each message")
    public static func streamUpdatesOn(
        messages: [MessageImpl], callback: @escaping ([MessageImpl]) -> Void
    ) -> any AutoCloseable {
        guard let chat = messages.first?.chat else { return ClosedListener() }
        return chat.listen(
            { ChatKit.Message.updates(of: messages.map(\.message)) },
            { try await chat.messages($0) }, callback)
    }
}

/// The sequence of a message's events. At most 1000 elements wait for a slow reader; then the oldest are dropped.
public struct MessageStream: Sendable {
    let message: MessageImpl

    /// The message after each edit, deletion, reaction and reply.
    public func updates() -> AsyncStream<MessageImpl> { .following { message.onUpdated(callback: $0) } }
}
