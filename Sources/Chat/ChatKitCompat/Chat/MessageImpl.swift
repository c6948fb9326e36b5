import ChatKit
import ChatModel
import ChatRemote

/// A message, with its values when it was read.
public final class MessageImpl: Sendable, CustomStringConvertible {
    /// The chat that the message belongs to.
    public let chat: ChatImpl
    let message: ChatKit.Message
    private let reactors: [ChatKit.Reaction]

    /// Creates a message.
    ///
    /// - Parameter reactors: the reactions with their users.
    init(_ chat: ChatImpl, _ message: ChatKit.Message, _ reactors: [ChatKit.Reaction]) {
        self.chat = chat
        self.message = message
        self.reactors = reactors
    }

    /// The id of the message in its channel, which is also the time at which the message was sent.
    public var timetoken: Timetoken { message.timetoken.rawValue }
    /// The current text as the content of an event.
    public var content: EventContent.TextMessageContent { EventContent.TextMessageContent(text: text) }
    /// The name of the channel that contains the message. For a reply, this is the channel of the parent message.
    public var channelId: String { message.channelId }
    /// The id of the author; empty when the gateway or an API key without a user sent the message.
    public var userId: String { message.userId }
    /// The metadata with which the message was sent; nil for none.
    public var meta: [String: any JSONCodable]? { message.meta?.members }
    /// The quoted message, with its values when it was quoted; nil for none.
    public var quotedMessage: QuotedMessage? {
        message.quotedMessage.map {
            QuotedMessage(timetoken: $0.timetoken.rawValue, text: $0.text, userId: $0.userId)
        }
    }
    /// The current text; empty when the message is deleted or has no text.
    public var text: String { message.text }
    /// True after a soft deletion.
    public var deleted: Bool { message.isDeleted }
    /// True when the message has replies.
    public var hasThread: Bool { message.hasThread }
    /// Always `text`.
    public var type: String { "text" }

    /// The reactions with their users, sorted by value.
    public var reactions: [MessageReaction] {
        actions?["reactions"]?.map { value, actions in
            let users = actions.map(\.uuid)
            return MessageReaction(
                value: value, isMine: users.contains(message.chat.userId), userIds: users)
        }.sorted { $0.value < $1.value } ?? []
    }

    /// The reactions by type, which is always `reactions`, and by value; nil when there are none. Edits and deletions
    /// are not included.
    public var actions: [String: [String: [Action]]]? {
        guard !reactors.isEmpty else { return nil }
        let byValue = Dictionary(grouping: reactors.sorted { $0.timetoken < $1.timetoken }, by: \.value)
        return [
            "reactions": byValue.mapValues { reactions in
                reactions.map { Action(uuid: $0.userId, actionTimetoken: $0.timetoken.rawValue) }
            }
        ]
    }

    /// The same as ``channelId``: for a reply, the channel of the parent message.
    public var parentChannelId: String { message.channelId }

    public var description: String { "MessageImpl(timetoken: \(timetoken), channelId: \(channelId), text: \(text))" }

    /// The message's events as sequences.
    public var stream: MessageStream { MessageStream(message: self) }

    /// Returns true when the chat's user has reacted with a value.
    public func hasUserReaction(reaction: String) -> Bool {
        reactions.contains { $0.value == reaction && $0.isMine }
    }
}

/// A reply. Replies are messages of the channel of their parent message.
public typealias ThreadMessageImpl = MessageImpl

extension ChatImpl {
    /// Returns a message together with the users who reacted to it. Sends no request for a message without reactions.
    func message(_ message: ChatKit.Message) async throws -> MessageImpl {
        guard !message.reactions.isEmpty else { return MessageImpl(self, message, []) }
        do throws(ChatError) {
            return MessageImpl(self, message, try await message.getReactions())
        } catch {
            // The message was deleted before its reactions were read.
            guard error.code == .notFound || error.code == .gone else { throw error }
            return MessageImpl(self, message, [])
        }
    }

    /// Returns messages together with the users who reacted to them; see ``message(_:)``.
    func messages(_ messages: [ChatKit.Message]) async throws -> [MessageImpl] {
        try await concurrently(messages) { try await self.message($0) }
    }
}

extension MessageImpl {
    /// Replaces the text of the message. The chat's user must be the author of the message or a moderator of the
    /// channel.
    ///
    /// - Returns: the changed message.
    /// - Throws: `forbidden` for any other user; `resourceNotFound` when the message is deleted or does not exist; the
    ///   errors common to all calls (see ``ChatImpl``).
    public func editText(newText: String) async throws -> MessageImpl {
        try await chat.call { _ in try await self.chat.message(try await self.message.editText(newText)) }
    }

    /// Replaces the text of the message; see ``editText(newText:)``.
    ///
    /// - Parameter completion: receives the changed message.
    public func editText(newText: String, completion: ChatCompletion<MessageImpl>? = nil) {
        chat.run(completion) { try await self.editText(newText: newText) }
    }

    /// Deletes the message. The chat's user must be the author of the message or a moderator of the channel.
    ///
    /// - Parameters:
    ///   - soft: true marks the message as deleted but leaves it in history; false removes it from history.
    ///   - preserveFiles: has no effect, because the gateway stores no files.
    /// - Returns: the marked message after a soft deletion; otherwise nil.
    /// - Throws: `forbidden` for any other user; `resourceNotFound` when the message does not exist; the errors common
    ///   to all calls (see ``ChatImpl``).
    @discardableResult
    public func delete(soft: Bool = false, preserveFiles: Bool = false) async throws -> MessageImpl? {
        try await chat.call { _ in
            try await self.message.delete(soft: soft)
            return soft ? try await self.refreshed() : nil
        }
    }

    /// Deletes the message; see ``delete(soft:preserveFiles:)``.
    ///
    /// - Parameter completion: receives the marked message after a soft deletion; otherwise nil.
    public func delete(
        soft: Bool = false, preserveFiles: Bool = false, completion: ChatCompletion<MessageImpl?>? = nil
    ) {
        chat.run(completion) { try await self.delete(soft: soft, preserveFiles: preserveFiles) }
    }

    /// Undoes a soft deletion.
    ///
    /// - Returns: the message with its content, replies and reactions.
    /// - Throws: `conflict` when the message is not deleted; `resourceNotFound` when the message is no longer in
    ///   history; the errors common to all calls (see ``ChatImpl``).
    public func restore() async throws -> MessageImpl {
        try await chat.call { _ in try await self.chat.message(try await self.message.restore()) }
    }

    /// Undoes a soft deletion; see ``restore()``.
    ///
    /// - Parameter completion: receives the message with its content, replies and reactions.
    public func restore(completion: ChatCompletion<MessageImpl>? = nil) {
        chat.run(completion) { try await self.restore() }
    }

    /// Adds the user's reaction, or removes it when the user has already reacted with this value.
    ///
    /// - Parameter reaction: the value of the reaction, such as an emoji.
    /// - Returns: the changed message.
    /// - Throws: `resourceNotFound` when the message is deleted or does not exist; `tooManyRequests` for too many
    ///   different reactions; the errors common to all calls (see ``ChatImpl``).
    @discardableResult
    public func toggleReaction(reaction: String) async throws -> MessageImpl {
        try await chat.call { _ in try await self.chat.message(try await self.message.toggleReaction(reaction)) }
    }

    /// Adds the user's reaction, or removes it when the user has already reacted with this value; see
    /// ``toggleReaction(reaction:)``.
    ///
    /// - Parameter completion: receives the changed message.
    public func toggleReaction(reaction: String, completion: ChatCompletion<MessageImpl>? = nil) {
        chat.run(completion) { try await self.toggleReaction(reaction: reaction) }
    }

    /// Sends a copy of the message to another channel. The metadata of the copy refers to the original message.
    ///
    /// - Returns: the timetoken of the copy.
    /// - Throws: `forbidden` when the chat's user may not write in the other channel; `resourceNotFound` when the
    ///   message is deleted or does not exist; the errors common to all calls (see ``ChatImpl``).
    @discardableResult
    public func forward(channelId: String) async throws -> Timetoken {
        try await chat.call { _ in try await self.message.forward(to: channelId).rawValue }
    }

    /// Sends a copy of the message to another channel; see ``forward(channelId:)``.
    ///
    /// - Parameter completion: receives the timetoken of the copy.
    public func forward(channelId: String, completion: ChatCompletion<Timetoken>? = nil) {
        chat.run(completion) { try await self.forward(channelId: channelId) }
    }

    /// Pins the message in its channel, and replaces the message that is pinned there. The chat's user must be a
    /// moderator of the channel.
    ///
    /// - Returns: the changed channel.
    /// - Throws: `forbidden` when the chat's user may not pin; `resourceNotFound` when the message is deleted or does
    ///   not exist, or the channel has no record; the errors common to all calls (see ``ChatImpl``).
    public func pin() async throws -> ChannelImpl {
        try await chat.call { _ in
            try await self.message.pin()
            return try await self.chat.channel(self.channelId)
        }
    }

    /// Pins the message in its channel; see ``pin()``.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pin(completion: ChatCompletion<ChannelImpl>? = nil) { chat.run(completion) { try await self.pin() } }

    /// Pins a reply in the channel of its parent message.
    ///
    /// - Returns: the changed channel.
    /// - Throws: the errors of ``pin()``.
    public func pinToParentChannel() async throws -> ChannelImpl { try await pin() }

    /// Pins a reply in the channel of its parent message.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pinToParentChannel(completion: ChatCompletion<ChannelImpl>? = nil) { pin(completion: completion) }

    /// Unpins a reply from the channel of its parent message.
    ///
    /// - Returns: the changed channel.
    /// - Throws: `forbidden` when the chat's user may not pin; `resourceNotFound` when the channel has no record; the
    ///   errors common to all calls (see ``ChatImpl``).
    public func unpinFromParentChannel() async throws -> ChannelImpl {
        try await chat.call { _ in
            try await self.message.unpin()
            return try await self.chat.channel(self.channelId)
        }
    }

    /// Unpins a reply from the channel of its parent message.
    ///
    /// - Parameter completion: receives the changed channel.
    public func unpinFromParentChannel(completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.unpinFromParentChannel() }
    }

    /// Reports the message to the channel's moderators.
    ///
    /// - Parameter reason: the reason, as free text of 1 to 1000 bytes.
    /// - Returns: the gateway's time after the report.
    /// - Throws: `resourceNotFound` when the message is deleted or does not exist; `badRequest` for a reason that is
    ///   empty or too long; the errors common to all calls (see ``ChatImpl``).
    @discardableResult
    public func report(reason: String) async throws -> Timetoken {
        try await chat.withBackend { backend in
            try await self.message.report(reason: reason)
            return try await backend.time().rawValue
        }
    }

    /// Reports the message to the channel's moderators; see ``report(reason:)``.
    ///
    /// - Parameter completion: receives the gateway's time after the report.
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
    /// Returns the thread of the message without a request. The gateway creates the thread with its first reply.
    ///
    /// - Throws: never. PubNub's SDK declares the call as throwing.
    public func createThread() async throws -> ThreadChannelImpl { ThreadChannelImpl(self) }

    /// Passes the thread of the message to the closure. The gateway creates the thread with its first reply.
    public func createThread(completion: ChatCompletion<ThreadChannelImpl>? = nil) {
        chat.run(completion) { try await self.createThread() }
    }

    /// Starts a thread by sending a reply to the message.
    ///
    /// - Returns: the thread and the changed message.
    /// - Throws: the errors of ``ThreadChannelImpl/sendText(text:params:)``.
    public func createThread(
        text: String, params: SendTextParams = SendTextParams()
    ) async throws -> CreateThreadResult {
        let thread = ThreadChannelImpl(self)
        try await thread.sendText(text: text, params: params)
        let parent = try await chat.call { _ in try await self.refreshed() }
        return CreateThreadResult(threadChannel: thread, parentMessage: parent ?? self)
    }

    /// Starts a thread by sending a reply to the message.
    ///
    /// - Parameter completion: receives the thread and the changed message.
    public func createThread(
        text: String, params: SendTextParams = SendTextParams(), completion: ChatCompletion<CreateThreadResult>? = nil
    ) {
        chat.run(completion) { try await self.createThread(text: text, params: params) }
    }

    /// Returns the thread of the message.
    ///
    /// - Throws: `resourceNotFound` when the message has no replies; the errors common to all calls (see ``ChatImpl``).
    public func getThread() async throws -> ThreadChannelImpl {
        guard try await chat.call({ _ in try await self.refreshed() })?.hasThread == true else {
            throw PubNubError(
                .resourceNotFound,
                details: ["the message \(timetoken) has no thread; createThread(text:params:) creates a thread"])
        }
        return ThreadChannelImpl(self)
    }

    /// Reads the thread of the message. Fails with `resourceNotFound` when the message has no replies.
    ///
    /// - Parameter completion: receives the thread of the message.
    public func getThread(completion: ChatCompletion<ThreadChannelImpl>? = nil) {
        chat.run(completion) { try await self.getThread() }
    }
}

extension MessageImpl {
    /// Deletes all replies to the message, one after the other. The chat's user must be a moderator of the channel
    /// unless all replies are the user's own.
    ///
    /// - Throws: `forbidden` when a reply is another user's and the chat's user is not a moderator; the errors common
    ///   to all calls (see ``ChatImpl``). After an error, some replies may remain.
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
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func removeThread(completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.removeThread() }
    }
}

// MARK: - Events

extension MessageImpl {
    /// Calls back with the message after each edit, deletion, reaction and reply.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func onUpdated(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        let chat = chat
        return chat.listen({ message.stream.updated() }, { try await chat.message($0) }, callback)
    }

    /// Calls back with the message after each edit, deletion, reaction and reply.
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(completion: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        onUpdated(callback: completion)
    }

    /// Calls back with all of the given messages each time one of the messages changes.
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

/// The events of a message as a sequence. At most 1000 elements wait for a slow reader; then the oldest are dropped.
public struct MessageStream: Sendable {
    let message: MessageImpl

    /// Yields the message after each edit, deletion, reaction and reply.
    public func updates() -> AsyncStream<MessageImpl> { .following { message.onUpdated(callback: $0) } }
}
