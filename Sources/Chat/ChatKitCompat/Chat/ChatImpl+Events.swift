import ChatKit
import ChatModel

/// A page of a history of events, oldest event first. `isMore` is true when there are more events between the bounds.
public typealias ChatEventsPage = (events: [EventWrapper<EventContent>], isMore: Bool)

/// A page of the mentions of the chat's user, oldest mention first. `isMore` is true when there are more mentions
/// between the bounds.
public typealias ChatMentionsPage = (mentions: [UserMentionDataWrapper], isMore: Bool)

extension ChatImpl {
    /// Returns the events that users have sent in a channel between the bounds, oldest first: messages, custom events,
    /// reports, mentions, invitations and restrictions. Events of muted users are left out.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound of the timetokens, exclusive; nil for no bound.
    ///   - endTimetoken: the lower bound of the timetokens, inclusive; nil for no bound.
    ///   - count: the maximum number of events, from 1 to the gateway's limit (250 by default).
    /// - Throws: `badRequest` for a count that the gateway rejects; `forbidden` when the chat's user may not read the
    ///   channel; `tooManyRequests` when none of 10,000 examined events is to be returned; the errors common to all
    ///   calls (see ``ChatImpl``).
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
    ///
    /// - Parameter completion: receives the events of a channel.
    public func getEventsHistory(
        channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100,
        completion: ChatCompletion<ChatEventsPage>? = nil
    ) {
        run(completion) {
            try await self.getEventsHistory(
                channelId: channelId, startTimetoken: startTimetoken, endTimetoken: endTimetoken, count: count)
        }
    }

    /// Returns the mentions of the chat's user between the bounds, oldest first. Each mention includes its message.
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound of the mentions' timetokens, exclusive; nil for no bound.
    ///   - endTimetoken: the lower bound of the mentions' timetokens, inclusive; nil for no bound.
    ///   - count: the maximum number of mentions, from 1 to the gateway's limit (250 by default).
    /// - Throws: `badRequest` for a count that the gateway rejects; `forbidden` when the chat's user may not read a
    ///   channel with a mention; `tooManyRequests` when none of 10,000 examined events is a mention; the errors common
    ///   to all calls (see ``ChatImpl``).
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

    /// Reads the mentions of the chat's user; see ``getCurrentUserMentions(startTimetoken:endTimetoken:count:)``.
    ///
    /// - Parameter completion: receives the mentions of the chat's user.
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
        // A reply is a message of the parent message's channel.
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

    /// Converts a ChatKit event to an event of this library. The result has the time, channel and user of `event`, and
    /// the content `content`.
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
    /// The message; nil when it does not exist any longer.
    var message: MessageImpl? { get }
    /// The id of the message's author; empty when the gateway or an API key without a user sent the message.
    var userId: String { get }
}

/// A mention of the chat's user in a channel.
public struct ChannelMentionData: UserMentionData {
    public var event: EventContent.Mention
    public var message: MessageImpl?
    public var userId: String
    /// The name of the channel that contains the message.
    public var channelId: String
}

/// A mention of the chat's user in a thread.
public struct ThreadMentionData: UserMentionData {
    public var event: EventContent.Mention
    public var message: MessageImpl?
    public var userId: String
    /// The name of the channel to which the thread belongs.
    public var parentChannelId: String
    /// The name of the thread, as in ``ThreadChannelImpl/id``.
    public var threadChannelId: String
}

// MARK: - Events of the older Chat SDKs

extension ChatImpl {
    /// Sends an event in the form of the older Chat SDKs. The class of the content determines the operation:
    ///
    /// - ``EventContent/Custom``, ``EventContent/TextMessageContent`` and ``EventContent/Mention`` are published in the
    ///   channel.
    /// - ``EventContent/Report``, ``EventContent/Typing``, ``EventContent/Receipt`` and ``EventContent/Invite`` make
    ///   the call that has the same effect, such as ``ChannelImpl/startTyping()``. If `mergePayloadWith` has
    ///   members, the content is published instead, and no call is made.
    /// - ``EventContent/Moderation`` is published and restricts nobody. To restrict a user, use
    ///   ``ChannelImpl/setRestrictions(user:ban:mute:reason:)``.
    ///
    /// - Parameter mergePayloadWith: additional members of the payload; nil for none.
    /// - Returns: the timetoken of the published event; 0 when another call was made instead.
    /// - Throws: `invalidArguments` for a content of another class; `jsonDataEncodingFailure` for an additional member
    ///   that cannot be encoded; otherwise the error of the call.
    @available(*, deprecated, message: "use ChannelImpl.emitCustomEvent, or a method such as MessageImpl.report")
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
                // With an additional member, the call publishes the event instead of restricting the user. This member
                // is already part of the payload and does not change it.
                return try await chat.emitEvent(
                    channelId: channelId, payload: restriction,
                    mergePayloadWith: ["type": "moderation"].merging(extra ?? [:]) { $1 }
                ).rawValue
            default:
                throw PubNubError(.invalidArguments, details: ["this class of event content cannot be sent"])
            }
        }
    }

    /// Sends an event in the form of the older Chat SDKs; see ``emitEvent(channelId:payload:mergePayloadWith:)``.
    ///
    /// - Parameter completion: receives the timetoken of the published event; 0 when another call was made instead.
    @available(*, deprecated, message: "use ChannelImpl.emitCustomEvent, or a method such as MessageImpl.report")
    public func emitEvent(
        channelId: String, payload: EventContent, mergePayloadWith otherPayload: [String: any JSONCodable]? = nil,
        completion: ChatCompletion<Timetoken>?
    ) {
        run(completion) {
            try await self.emitEvent(channelId: channelId, payload: payload, mergePayloadWith: otherPayload)
        }
    }

    /// Calls back with each event on a channel whose content is of the class `type`. Events of muted users are left
    /// out.
    ///
    /// - Parameter customMethod: selects the custom events that were sent by this method; other custom events are left
    ///   out. The parameter has no effect when `type` is not ``EventContent/Custom``.
    /// - Returns: the listener. It ends when it is closed or released.
    @available(*, deprecated, message: "use the methods of ChannelImpl and UserImpl that begin with 'on'")
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

    /// The name of the channel that the restriction applies to. PubNub's Chat SDKs put a prefix before this name; the
    /// prefix is removed here.
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
