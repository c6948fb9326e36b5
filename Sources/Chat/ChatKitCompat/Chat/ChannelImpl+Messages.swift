import ChatKit
import ChatModel

/// A page of a history, oldest first. `isMore` is true when there are more messages between the bounds.
public typealias ChatHistoryPage = (messages: [MessageImpl], isMore: Bool)

extension ChannelImpl {
    /// Sends a text message, and returns its timetoken.
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
    /// - Parameter completion: receives the timetoken.
    public func sendText(
        text: String, params: SendTextParams = SendTextParams(), completion: ChatCompletion<Timetoken>? = nil
    ) {
        chat.run(completion) { try await self.sendText(text: text, params: params) }
    }

    /// Sends a text message that mentions users or quotes a message, and returns its timetoken.
    ///
    /// - Parameters:
    ///   - usePost: accepted; every message is sent by POST.
    ///   - usersToMention: the ids of users, each of whom receives a mention.
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

    /// Sends a text message that mentions users or quotes a message.
    ///
    /// - Parameters:
    ///   - usePost: accepted; every message is sent by POST.
    ///   - usersToMention: the ids of users, each of whom receives a mention.
    ///   - completion: receives the timetoken.
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

    /// Returns the newest messages between the bounds, oldest first. Replies are left out: they are in their thread. A call
    /// examines at most 10,000 messages, so that a page may be shorter.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound, exclusive.
    ///   - endTimetoken: the lower bound, inclusive.
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
    public func getHistory(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 25,
        completion: ChatCompletion<ChatHistoryPage>? = nil
    ) {
        chat.run(completion) {
            try await self.getHistory(startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }

    /// Returns a message; nil when it does not exist.
    public func getMessage(timetoken: Timetoken) async throws -> MessageImpl? {
        try await chat.call { _ in
            guard let message = try await self.channel.getMessage(timetoken: ChatModel.Timetoken(timetoken)) else {
                return nil
            }
            return try await self.chat.message(message)
        }
    }

    /// Reads a message; nil when it does not exist.
    public func getMessage(timetoken: Timetoken, completion: ChatCompletion<MessageImpl?>? = nil) {
        chat.run(completion) { try await self.getMessage(timetoken: timetoken) }
    }

    /// Returns the pinned message; nil when none is pinned.
    public func getPinnedMessage() async throws -> MessageImpl? {
        try await chat.call { _ in
            guard let message = try await self.channel.getPinnedMessage() else { return nil }
            return try await self.chat.message(message)
        }
    }

    /// Reads the pinned message; nil when none is pinned.
    public func getPinnedMessage(completion: ChatCompletion<MessageImpl?>? = nil) {
        chat.run(completion) { try await self.getPinnedMessage() }
    }

    /// Pins a message of the channel in place of the pinned one, and returns the changed channel.
    public func pinMessage(message: MessageImpl) async throws -> ChannelImpl {
        try await chat.call { _ in
            try await message.message.pin()
            return try await self.chat.channel(self.id)
        }
    }

    /// Pins a message of the channel in place of the pinned one.
    ///
    /// - Parameter completion: receives the changed channel.
    public func pinMessage(message: MessageImpl, completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.pinMessage(message: message) }
    }

    /// Unpins the pinned message, and returns the changed channel.
    public func unpinMessage() async throws -> ChannelImpl {
        try await chat.call { _ in
            if let pinned = try await self.channel.getPinnedMessage() { try await pinned.unpin() }
            return try await self.chat.channel(self.id)
        }
    }

    /// Unpins the pinned message.
    ///
    /// - Parameter completion: receives the changed channel.
    public func unpinMessage(completion: ChatCompletion<ChannelImpl>? = nil) {
        chat.run(completion) { try await self.unpinMessage() }
    }

    /// Sends a message of another channel to this one, and returns the timetoken of the copy.
    @discardableResult
    public func forward(message: MessageImpl) async throws -> Timetoken { try await message.forward(channelId: id) }

    /// Sends a message of another channel to this one.
    ///
    /// - Parameter completion: receives the timetoken of the copy.
    public func forward(message: MessageImpl, completion: ChatCompletion<Timetoken>? = nil) {
        chat.run(completion) { try await self.forward(message: message) }
    }

    /// Sends an event of the app's own type, and returns its timetoken.
    ///
    /// - Parameter messageType: the event's type; nil sends an event without one.
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

    /// Sends an event of the app's own type.
    ///
    /// - Parameters:
    ///   - messageType: the event's type; nil sends an event without one.
    ///   - completion: receives the timetoken.
    public func emitCustomEvent(
        payload: [String: any JSONCodable], messageType: String? = nil, storeInHistory: Bool = true,
        completion: ChatCompletion<Timetoken>? = nil
    ) {
        chat.run(completion) {
            try await self.emitCustomEvent(payload: payload, messageType: messageType, storeInHistory: storeInHistory)
        }
    }

    /// Returns reports of the channel's messages, oldest first. Requires a moderator of the channel.
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

    /// Reads reports of the channel's messages, oldest first. Requires a moderator of the channel.
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
