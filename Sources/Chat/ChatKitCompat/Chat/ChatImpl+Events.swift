import ChatKit
import ChatModel

/// A page of a history of events, oldest first. `isMore` is true when there are more events between the bounds.
public typealias ChatEventsPage = (events: [EventWrapper<EventContent>], isMore: Bool)

/// A page of the mentions of the chat's user, oldest first. `isMore` is true when there are more between the bounds.
public typealias ChatMentionsPage = (mentions: [UserMentionDataWrapper], isMore: Bool)

extension ChatImpl {
    /// Returns the events that users have sent in a channel between the bounds, oldest first: messages, custom events,
    /// reports, mentions, invitations and restrictions.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound, exclusive.
    ///   - endTimetoken: the lower bound, inclusive.
    public func getEventsHistory(
        channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100
    ) async throws -> ChatEventsPage {
        try await call { chat in
            let found = try await chat.getEventsHistory(
                channelId: channelId, startTimetoken: startTimetoken.map { ChatModel.Timetoken($0) },
                endTimetoken: endTimetoken.map { ChatModel.Timetoken($0) }, count: count)
            let shown = found.events.filter { !self.mutedUsersManager.isMuted($0.event.userId) }
            return (shown.map { self.wrapped($0.event, EventContent.of($0.event.payload)) }, found.isMore)
        }
    }

    /// Reads the events of a channel; see ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:)``.
    public func getEventsHistory(
        channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100,
        completion: ChatCompletion<ChatEventsPage>? = nil
    ) {
        run(completion) {
            try await self.getEventsHistory(
                channelId: channelId, startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }

    /// Returns the mentions of the chat's user between the bounds, oldest first, with the messages.
    public func getCurrentUserMentions(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100
    ) async throws -> ChatMentionsPage {
        try await call { chat in
            let found = try await chat.getEventsHistory(
                of: ChatKit.Mention.self, channelId: chat.userId,
                startTimetoken: startTimetoken.map { ChatModel.Timetoken($0) },
                endTimetoken: endTimetoken.map { ChatModel.Timetoken($0) }, count: count)
            let mentions = try await self.concurrently(found.events.map(\.event.payload)) { mention in
                UserMentionDataWrapper(userMentionData: try await self.mentioned(mention))
            }
            return (mentions, found.isMore)
        }
    }

    /// Reads the mentions of the chat's user between the bounds, oldest first, with the messages.
    public func getCurrentUserMentions(
        startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100,
        completion: ChatCompletion<ChatMentionsPage>? = nil
    ) {
        run(completion) {
            try await self.getCurrentUserMentions(
                startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }

    private func mentioned(_ mention: ChatKit.Mention) async throws -> any UserMentionData {
        let content = EventContent.Mention(
            messageTimetoken: mention.messageTimetoken.rawValue, channel: mention.channelId,
            parentChannel: mention.parentChannelId)
        // A reply is a message of the channel above the thread.
        let channel = mention.parentChannelId ?? mention.channelId
        let message = try await self.channel(named: channel).getMessage(timetoken: content.messageTimetoken)
        guard let parent = mention.parentChannelId else {
            return ChannelMentionData(
                event: content, message: message, userId: mention.mentionedByUserId, channelId: mention.channelId)
        }
        let thread = message?.message.parentTimetoken.map { ThreadChannelImpl.id(of: $0.rawValue, in: parent) }
        return ThreadMentionData(
            event: content, message: message, userId: mention.mentionedByUserId, parentChannelId: parent,
            threadChannelId: thread ?? mention.channelId)
    }

    func wrapped<Content: EventContent>(
        _ event: ContentEvent<some Sendable>, _ content: Content
    ) -> EventWrapper<Content> {
        EventWrapper(
            event: ChatEvent(
                chat: self, timetoken: event.timetoken.rawValue, payload: content, channelId: event.channelId,
                userId: event.userId))
    }
}

/// A mention of the chat's user.
public struct UserMentionDataWrapper: Sendable {
    /// The mention with its message.
    public var userMentionData: any UserMentionData
}

/// A mention of the chat's user in a channel (``ChannelMentionData``) or a thread (``ThreadMentionData``).
public protocol UserMentionData: Sendable {
    /// The mention.
    var event: EventContent.Mention { get }
    /// The message; nil when it is gone.
    var message: MessageImpl? { get }
    /// The author of the message; empty when the gateway or an operator sent it.
    var userId: String { get }
}

/// A mention of the chat's user in a channel.
public struct ChannelMentionData: UserMentionData {
    public var event: EventContent.Mention
    public var message: MessageImpl?
    public var userId: String
    /// The channel.
    public var channelId: String
}

/// A mention of the chat's user in a thread.
public struct ThreadMentionData: UserMentionData {
    public var event: EventContent.Mention
    public var message: MessageImpl?
    public var userId: String
    /// The channel of the message that the thread belongs to.
    public var parentChannelId: String
    /// The thread's channel.
    public var threadChannelId: String
}

// MARK: - Events of the older generation

extension ChatImpl {
    /// Sends an event, and returns its timetoken; 0 for a content that makes another call of the same effect, such as
    /// ``ChannelImpl/startTyping()``. With additional members, such a content is published and makes no call. An
    /// ``EventContent/Moderation`` restricts nobody: ``ChannelImpl/setRestrictions(user:ban:mute:reason:completion:)`` does.
    ///
    /// - Parameter mergePayloadWith: additional members of the payload.
    @available(*, deprecated, message: "use ChannelImpl.emitCustomEvent, or the call of the same effect")
    @discardableResult
    public func emitEvent(
        channelId: String, payload: EventContent, mergePayloadWith otherPayload: [String: any JSONCodable]? = nil
    ) async throws -> Timetoken {
        let extra = try otherPayload?.encoded()
        return try await call { chat in
            switch payload {
            case let custom as EventContent.Custom:
                let data = custom.data.mapValues { ChatKit.AnyJSON(untyped: $0) }
                return try await chat.emitEvent(
                    channelId: channelId, payload: ChatKit.Custom(data: data, method: custom.method.method),
                    mergePayloadWith: extra
                ).rawValue
            case let report as EventContent.Report:
                return try await chat.emitEvent(
                    channelId: channelId,
                    payload: ChatKit.Report(
                        reason: report.reason, text: report.text,
                        messageTimetoken: report.reportedMessageTimetoken.map { ChatModel.Timetoken($0) },
                        reportedMessageChannelId: report.reportedMessageChannelId,
                        reportedUserId: report.reportedUserId, autoModerationId: report.autoModerationId),
                    mergePayloadWith: extra
                ).rawValue
            case let typing as EventContent.Typing:
                return try await chat.emitEvent(
                    channelId: channelId, payload: ChatKit.Typing(userId: "", isTyping: typing.value),
                    mergePayloadWith: extra
                ).rawValue
            case let receipt as EventContent.Receipt:
                let timetoken = ChatModel.Timetoken(receipt.messageTimetoken)
                return try await chat.emitEvent(
                    channelId: channelId, payload: ChatKit.ReadReceipt(userId: "", lastReadTimetoken: timetoken),
                    mergePayloadWith: extra
                ).rawValue
            case let mention as EventContent.Mention:
                return try await chat.emitEvent(
                    channelId: channelId,
                    payload: ChatKit.Mention(
                        messageTimetoken: ChatModel.Timetoken(mention.messageTimetoken), channelId: mention.channel,
                        parentChannelId: mention.parentChannel, mentionedByUserId: ""), mergePayloadWith: extra
                ).rawValue
            case let invite as EventContent.Invite:
                return try await chat.emitEvent(
                    channelId: channelId,
                    payload: ChatKit.Invite(
                        channelId: invite.channelId, channelType: invite.channelType.native, invitedByUserId: "",
                        invitationTimetoken: .zero),
                    mergePayloadWith: extra
                ).rawValue
            case let message as EventContent.TextMessageContent:
                return try await chat.emitEvent(
                    channelId: channelId, payload: ChatKit.TextMessageContent(text: message.text),
                    mergePayloadWith: extra
                ).rawValue
            case let moderation as EventContent.Moderation:
                let restriction = ChatKit.Restriction(
                    userId: channelId, channelId: moderation.moderatedChannel, ban: moderation.restriction == .ban,
                    mute: moderation.restriction == .mute, reason: moderation.reason)
                // The additional member repeats one of the payload. It selects publishing: without any, the call would
                // restrict the user.
                return try await chat.emitEvent(
                    channelId: channelId, payload: restriction,
                    mergePayloadWith: ["type": "moderation"].merging(extra ?? [:]) { $1 }
                ).rawValue
            default:
                throw PubNubError(.invalidArguments, details: ["a content without a class of its own cannot be sent"])
            }
        }
    }

    /// Sends an event; see ``emitEvent(channelId:payload:mergePayloadWith:)``.
    ///
    /// - Parameter completion: receives the timetoken.
    @available(*, deprecated, message: "use ChannelImpl.emitCustomEvent, or the call of the same effect")
    public func emitEvent(
        channelId: String, payload: EventContent, mergePayloadWith otherPayload: [String: any JSONCodable]? = nil,
        completion: ChatCompletion<Timetoken>?
    ) {
        run(completion) {
            try await self.emitEvent(channelId: channelId, payload: payload, mergePayloadWith: otherPayload)
        }
    }

    /// Calls back with each event of one content on a channel.
    ///
    /// - Parameter customMethod: the method by which custom events were sent.
    @available(*, deprecated, message: "use the on… methods of ChannelImpl and UserImpl")
    public func listenForEvents<Content: EventContent>(
        type: Content.Type, channelId: String, customMethod: EmitEventMethod = .publish,
        callback: @escaping (EventWrapper<Content>) -> Void
    ) -> any AutoCloseable {
        switch type {
        case is EventContent.TextMessageContent.Type:
            follow(ChatKit.TextMessageContent.self, channelId, customMethod, callback)
        case is EventContent.Report.Type: follow(ChatKit.Report.self, channelId, customMethod, callback)
        case is EventContent.Typing.Type: follow(ChatKit.Typing.self, channelId, customMethod, callback)
        case is EventContent.Receipt.Type: follow(ChatKit.ReadReceipt.self, channelId, customMethod, callback)
        case is EventContent.Mention.Type: follow(ChatKit.Mention.self, channelId, customMethod, callback)
        case is EventContent.Invite.Type: follow(ChatKit.Invite.self, channelId, customMethod, callback)
        case is EventContent.Moderation.Type: follow(ChatKit.Restriction.self, channelId, customMethod, callback)
        default: follow(ChatKit.Custom.self, channelId, customMethod, callback)
        }
    }

    @available(*, deprecated)
    private func follow<Native: ChatKit.EventContent, Content: EventContent>(
        _ native: Native.Type, _ channelId: String, _ method: EmitEventMethod,
        _ callback: @escaping (EventWrapper<Content>) -> Void
    ) -> any AutoCloseable {
        let chat = self
        return listen(
            { try connected.contents(native, channelId, method.method) },
            { wrapper in
                if chat.mutedUsersManager.isMuted(wrapper.event.userId) { return nil }
                let content: EventContent
                if let custom = wrapper.event.payload as? ChatKit.Custom {
                    content = EventContent.Custom(data: custom.data.plain, method: method)
                } else {
                    content = EventContent.of(wrapper.event.payload)
                }
                return (content as? Content).map { chat.wrapped(wrapper.event, $0) }
            }, callback)
    }
}

extension EventContent.Moderation {
    private static let prefix = "PUBNUB_INTERNAL_MODERATION_"

    /// The channel of the restriction. Chat SDKs name it by its moderation channel.
    fileprivate var moderatedChannel: String {
        channelId.hasPrefix(Self.prefix) ? String(channelId.dropFirst(Self.prefix.count)) : channelId
    }
}

extension ChannelType {
    fileprivate var native: ChatKit.ChannelType { ChatKit.ChannelType(rawValue: rawValue) ?? .unknown }
}

extension EmitEventMethod {
    @available(*, deprecated)
    fileprivate var method: ChatKit.EmitEventMethod { self == .publish ? .publish : .signal }
}
