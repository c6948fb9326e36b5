import ChatKit
import ChatModel

/// A page of a history, oldest message first. `isMore` is true when there are more messages between the bounds.
public typealias ChatHistoryPage = (messages: [MessageImpl], isMore: Bool)

extension ChannelImpl {
    /// Sends a text message.
    ///
    /// - Returns: the timetoken of the message, which is its id in the channel and the time at which it was sent.
    /// - Throws: `forbidden` when the chat's user may not write in the channel; `jsonDataEncodingFailure` when `meta`
    ///   cannot be encoded; `messageTooLong` when the message is too long; the errors common to all calls (see
    ///   ``ChatImpl``).
    @discardableResult
    public func sendText(text: String, params: SendTextParams = SendTextParams()) async throws -> Timetoken {
        let meta = try params.meta?.encoded()
        return try await chat.call { _ in
            try await self.channel.sendText(
                text, meta: meta, storeInHistory: params.shouldStore, ttlHours: params.ttl
            ).rawValue
        }
    }

    /// Sends a text message.
    ///
    /// - Parameter completion: receives the timetoken of the message.
    public func sendText(
        text: String, params: SendTextParams = SendTextParams(), completion: ChatCompletion<Timetoken>? = nil
    ) {
        chat.run(completion) { try await self.sendText(text: text, params: params) }
    }

    /// Sends a text message that can mention users and quote a message.
    ///
    /// - Parameters:
    ///   - meta: metadata, which filters can read; nil for none.
    ///   - shouldStore: true when history stores the message.
    ///   - usePost: has no effect. Every message is sent by POST.
    ///   - ttl: the number of hours for which history stores the message; nil or 0 selects the app's retention.
    ///   - quotedMessage: the message to quote; nil for none.
    ///   - usersToMention: the ids of the mentioned users. Each of them receives a mention. Nil mentions no user.
    /// - Returns: the timetoken of the message.
    /// - Throws: the errors of ``sendText(text:params:)``; `resourceNotFound` when the quoted message does not exist or
    ///   is deleted.
    @_disfavoredOverload
    @discardableResult
    public func sendText(
        text: String, meta: [String: any JSONCodable]? = nil, shouldStore: Bool = true, usePost: Bool = false,
        ttl: Int? = nil, quotedMessage: MessageImpl? = nil, usersToMention: [String]? = nil
    ) async throws -> Timetoken {
        let meta = try meta?.encoded()
        return try await chat.call { _ in
            try await self.channel.sendText(
                text, meta: meta, usersToMention: usersToMention ?? [], quoting: quotedMessage?.message,
                storeInHistory: shouldStore, ttlHours: ttl
            ).rawValue
        }
    }

    /// Sends a text message that can mention users and quote a message; see
    /// ``sendText(text:meta:shouldStore:usePost:ttl:quotedMessage:usersToMention:)``.
    ///
    /// - Parameter completion: receives the timetoken of the message.
    @_disfavoredOverload
    public func sendText(
        text: String, meta: [String: any JSONCodable]? = nil, shouldStore: Bool = true, usePost: Bool = false,
        ttl: Int? = nil, quotedMessage: MessageImpl? = nil, usersToMention: [String]? = nil,
        completion: ChatCompletion<Timetoken>? = nil
    ) {
        chat.run(completion) {
            try await self.sendText(
                text: text, meta: meta, shouldStore: shouldStore, usePost: usePost, ttl: ttl,
                quotedMessage: quotedMessage, usersToMention: usersToMention)
        }
    }

    /// Returns the newest messages between the bounds, oldest first. Replies are left out, because
    /// ``ThreadChannelImpl/getHistory(startTimetoken:endTimetoken:count:)`` returns them. Messages of muted users are
    /// left out too.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound of the timetokens, exclusive; nil for no bound.
    ///   - endTimetoken: the lower bound of the timetokens, inclusive; nil for no bound.
    ///   - count: the maximum number of messages, from 1 to the gateway's limit (250 by default).
    /// - Returns: the messages. The page can have fewer than `count` messages even when `isMore` is true. There are two
    ///   reasons: a call examines at most 10,000 messages, and it leaves out the messages of muted users.
    /// - Throws: `forbidden` when the chat's user may not read the channel; `badRequest` for a count that the gateway
    ///   rejects; the errors common to all calls (see ``ChatImpl``).
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25
    ) async throws -> ChatHistoryPage {
        try await chat.call { _ in
            var found: [ChatKit.Message] = []
            var (start, examined, isMore) = (startTimetoken.map { ChatModel.Timetoken($0) }, 0, true)
            while isMore, found.count < count, examined < 10_000 {
                let page = try await self.channel.getHistory(
                    startTimetoken: start, endTimetoken: endTimetoken.map { ChatModel.Timetoken($0) }, count: count)
                let shown = page.messages.filter { $0.parentTimetoken == nil }
                isMore = page.isMore || shown.count > count - found.count
                found = shown.suffix(count - found.count) + found
                (start, examined) = (page.messages.first?.timetoken, examined + page.messages.count)
            }
            let visible = found.filter { !self.chat.mutedUsersManager.isMuted($0.userId) }
            return (try await self.chat.messages(visible), isMore)
        }
    }

    /// Reads the newest messages between the bounds, oldest first; see
    /// ``getHistory(startTimetoken:endTimetoken:count:)``.
    ///
    /// - Parameter completion: receives the newest messages between the bounds, oldest first.
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25,
        completion: ChatCompletion<ChatHistoryPage>? = nil
    ) {
        chat.run(completion) {
            try await self.getHistory(startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }

    /// Returns a message, or nil when it does not exist.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getMessage(timetoken: Timetoken) async throws -> MessageImpl? {
        try await chat.call { _ in
            guard let message = try await self.channel.getMessage(timetoken: ChatModel.Timetoken(timetoken)) else {
                return nil
            }
            return try await self.chat.message(message)
        }
    }

    /// Reads a message; nil when it does not exist.
    ///
    /// - Parameter completion: receives the message; nil when it does not exist.
    public func getMessage(timetoken: Timetoken, completion: ChatCompletion<MessageImpl?>? = nil) {
        chat.run(completion) { try await self.getMessage(timetoken: timetoken) }
    }

    /// Returns the pinned message, or nil when no message is pinned.
    ///
    /// - Throws: `forbidden` when the chat's user may not read the channel; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func getPinnedMessage() async throws -> MessageImpl? {
        try await chat.call { _ in
            guard let message = try await self.channel.getPinnedMessage() else { return nil }
            return try await self.chat.message(message)
        }
    }

    /// Reads the pinned message; nil when no message is pinned.
    ///
    /// - Parameter completion: receives the pinned message; nil when no message is pinned.
    public func getPinnedMessage(completion: ChatCompletion<MessageImpl?>? = nil) {
        chat.run(completion) { try await self.getPinnedMessage() }
    }

    /// Pins a message of the channel. The message replaces the currently pinned message. The chat's user must be a
    /// moderator of the channel.
    ///
    /// - Returns: the changed channel.
    /// - Throws: the errors of ``MessageImpl/pin()``.
    public func pinMessage(message: MessageImpl) async throws -> ChannelImpl {
        try await chat.call { _ in
            try await message.message.pin()
            return try await self.chat.channel(self.id)
        }
    }

    /// Pins a message of the channel; see ``pinMessage(message:)``.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pinMessage(message: MessageImpl, completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.pinMessage(message: message) }
    }

    /// Unpins the pinned message. Does nothing when no message is pinned.
    ///
    /// - Returns: the changed channel.
    /// - Throws: `forbidden` when the chat's user may not pin; the errors common to all calls (see ``ChatImpl``).
    public func unpinMessage() async throws -> ChannelImpl {
        try await chat.call { _ in
            if let pinned = try await self.channel.getPinnedMessage() { try await pinned.unpin() }
            return try await self.chat.channel(self.id)
        }
    }

    /// Unpins the pinned message. Does nothing when no message is pinned.
    ///
    /// - Parameter completion: receives the changed channel.
    public func unpinMessage(completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.unpinMessage() }
    }

    /// Sends a copy of another channel's message to this channel.
    ///
    /// - Returns: the timetoken of the copy.
    /// - Throws: the errors of ``MessageImpl/forward(channelId:)``.
    @discardableResult
    public func forward(message: MessageImpl) async throws -> Timetoken { try await message.forward(channelId: id) }

    /// Sends a copy of another channel's message to this channel.
    ///
    /// - Parameter completion: receives the timetoken of the copy.
    public func forward(message: MessageImpl, completion: ChatCompletion<Timetoken>? = nil) {
        chat.run(completion) { try await self.forward(message: message) }
    }

    /// Sends an event with a type of the app.
    ///
    /// - Parameters:
    ///   - payload: the members of the event's payload.
    ///   - messageType: the event's type; nil sends an event without a type.
    ///   - storeInHistory: true when history stores the event.
    /// - Returns: the timetoken of the event.
    /// - Throws: `badRequest` for a built-in type, or when the payload does not match the type's schema;
    ///   `jsonDataEncodingFailure` when the payload cannot be encoded; `forbidden` when the chat's user may not write
    ///   in the channel; the errors common to all calls (see ``ChatImpl``).
    @discardableResult
    public func emitCustomEvent(
        payload: [String: any JSONCodable], messageType: String? = nil, storeInHistory: Bool = true
    ) async throws -> Timetoken {
        let members = try payload.encoded()
        return try await chat.call { _ in
            try await self.channel.emitCustomEvent(
                payload: members, messageType: messageType, storeInHistory: storeInHistory
            ).rawValue
        }
    }

    /// Sends an event with a type of the app; see ``emitCustomEvent(payload:messageType:storeInHistory:)``.
    ///
    /// - Parameter completion: receives the timetoken of the event.
    public func emitCustomEvent(
        payload: [String: any JSONCodable], messageType: String? = nil, storeInHistory: Bool = true,
        completion: ChatCompletion<Timetoken>? = nil
    ) {
        chat.run(completion) {
            try await self.emitCustomEvent(payload: payload, messageType: messageType, storeInHistory: storeInHistory)
        }
    }

    /// Returns reports of the channel's messages, oldest first. The chat's user must be a moderator of the channel.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound of the reports' timetokens, exclusive; nil for no bound.
    ///   - endTimetoken: the lower bound of the reports' timetokens, inclusive; nil for no bound.
    ///   - count: the maximum number of reports, from 1 to the gateway's limit (250 by default).
    /// - Throws: `forbidden` when the chat's user is not a moderator of the channel; `badRequest` for a count that the
    ///   gateway rejects; the errors common to all calls (see ``ChatImpl``).
    public func getMessageReportsHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100
    ) async throws -> ChatEventsPage {
        try await chat.call { _ in
            let found = try await self.channel.getMessageReportsHistory(
                startTimetoken: startTimetoken.map { ChatModel.Timetoken($0) },
                endTimetoken: endTimetoken.map { ChatModel.Timetoken($0) }, count: count)
            return (
                found.events.map { self.chat.wrapped($0.event, EventContent.of($0.event.payload)) }, found.isMore
            )
        }
    }

    /// Reads reports of the channel's messages, oldest first; see
    /// ``getMessageReportsHistory(startTimetoken:endTimetoken:count:)``.
    ///
    /// - Parameter completion: receives the reports of the channel's messages, oldest first.
    public func getMessageReportsHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100,
        completion: ChatCompletion<ChatEventsPage>? = nil
    ) {
        chat.run(completion) {
            try await self.getMessageReportsHistory(
                startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }
}
