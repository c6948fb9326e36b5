public import ChatModel

/// A message was reported to the moderators of its channel.
public struct Report: EventContent, Equatable {
    public let reason: String
    public let text: String?
    public let messageTimetoken: Timetoken?
    public let reportedMessageChannelId: String?
    public let reportedUserId: String?
    /// The rule, when one reported by itself.
    public let autoModerationId: String?

    init(_ data: AnyJSON) {
        reason = data.text("reason") ?? ""
        let message = data["message"] ?? .null
        text = message["data"].flatMap { $0 == .null ? nil : $0.messageText } ?? data.text("text")
        messageTimetoken = message.timetoken("timetoken")
        reportedMessageChannelId = message.text("channel")
        reportedUserId = data["author"]?.text("id")
        autoModerationId = data.text("auto_moderation_id")
    }
}

/// A message mentions the user.
public struct Mention: EventContent, Equatable {
    public let messageTimetoken: Timetoken
    /// Where the message is: a channel or a thread.
    public let channelId: String
    /// The channel of the thread, when it is in one.
    public let parentChannelId: String?
    public let mentionedByUserId: String

    init(_ event: Event, _ data: AnyJSON) {
        let message = data["message"] ?? .null
        messageTimetoken = message.timetoken("timetoken") ?? .zero
        channelId = message.text("channel") ?? event.channel.name
        parentChannelId = message.timetoken("thread_of") == nil ? nil : channelId
        mentionedByUserId = message.text("user") ?? event.user ?? ""
    }
}

/// A user has read up to a message.
public struct ReadReceipt: EventContent, Equatable {
    public let userId: String
    public let lastReadTimetoken: Timetoken

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        lastReadTimetoken = data.timetoken("read_timetoken") ?? .zero
    }
}

/// The user was invited to a channel.
public struct Invite: EventContent, Equatable {
    public let channelId: String
    public let channelType: ChannelType
    public let invitedByUserId: String
    public let invitationTimetoken: Timetoken

    init(_ event: Event, _ data: AnyJSON) {
        channelId = data["channel"]?.text("id") ?? event.channel.name
        channelType = ChannelType(data["channel"]?.text("kind"))
        invitedByUserId = data["inviter"]?.text("id") ?? event.user ?? ""
        invitationTimetoken = event.timetoken
    }
}

/// A user was muted or banned in a channel, or is no longer.
public struct Restriction: EventContent, Equatable {
    public let userId: String
    public let channelId: String
    public let ban: Bool
    public let mute: Bool
    public let reason: String?

    init(_ event: Event, _ data: AnyJSON) {
        let restriction = data["restriction"] ?? .null
        userId = restriction.text("user") ?? ""
        channelId = restriction.text("channel") ?? event.channel.name
        ban = restriction.flag("ban")
        mute = restriction.flag("mute")
        // Of one that has ended, why it ended.
        reason = data.text("end_reason") ?? restriction.text("reason")
    }
}

/// A user began to type, or stopped.
public struct Typing: EventContent, Equatable {
    public let userId: String
    public let isTyping: Bool

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        isTyping = event.type == "typing.started"
    }
}

/// A message was sent.
public struct TextMessageContent: EventContent, Equatable {
    /// Empty when the message is no text.
    public let text: String
    /// All of what was sent.
    public let content: AnyJSON

    init(_ data: AnyJSON) {
        text = data.messageText
        content = data
    }
}

/// What a channel is.
public enum ChannelType: String, Sendable, CaseIterable {
    case direct, group, `public`, open
    /// It has no record.
    case unknown

    init(_ name: String?) { self = name.flatMap { ChannelType(rawValue: $0) } ?? .unknown }
}

extension AnyJSON {
    func text(_ name: String) -> String? { self[name]?.string }

    func timetoken(_ name: String) -> Timetoken? { text(name).flatMap { Timetoken(text: $0) } }

    func flag(_ name: String) -> Bool { self[name] == .boolean(true) }

    /// The text of a message: its member `text`, or itself when it is a bare string.
    var messageText: String { text("text") ?? string ?? "" }
}

extension Chat {
    /// What happened on a channel and is kept, oldest first: the newest `count` events between the bounds.
    ///
    /// ```swift
    /// let (events, isMore) = try await chat.getEventsHistory(channelId: "room.1", count: 10)
    /// for case let order as CustomEvent in events.map(\.event.payload) { print(order.type) }
    /// ```
    ///
    /// - Parameters:
    ///   - startTimetoken: only older events; exclusive.
    ///   - endTimetoken: only this and newer events; inclusive.
    ///   - count: 1 to 250 by default.
    /// - Returns: the events, and whether there are more between the bounds.
    public func getEventsHistory(
        channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100
    ) async throws(ChatError) -> (events: [EventWrapper<any EventContent>], isMore: Bool) {
        var query = EventQuery(channel: channelId)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        let page = try await backend.history(query)
        return (page.items.reversed().map { $0.wrapped($0.content) }, page.hasMore)
    }

    /// How many events of a channel are kept between the bounds; see
    /// ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:)``.
    ///
    /// - Parameter types: names and patterns (`order.*`) of types; empty: all.
    public func getEventsCount(
        channelId: String, types: [String] = [], startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil
    ) async throws(ChatError) -> Int {
        var query = EventQuery(channel: channelId)
        query.bound(start: startTimetoken, end: endTimetoken, count: 1)
        query.types = types
        return try await backend.count(query)
    }
}

extension EventQuery {
    /// The bounds as histories of messages and events take them: start exclusive, end inclusive, newest first.
    mutating func bound(start: Timetoken?, end: Timetoken?, count: Int) {
        before = start ?? .distantFuture
        after = end.map { Timetoken(max($0.rawValue, 1) - 1) } ?? .zero
        order = .newestFirst
        limit = count
    }
}

extension Event {
    /// What the event says. Whatever has no struct of its own is a ``CustomEvent`` with the event's type: what a newer
    /// gateway tells must not make a history unreadable.
    public var content: any EventContent {
        let data = AnyJSON(data)
        return switch type {
        case "message.created": TextMessageContent(data)
        case "typing.started", "typing.stopped": Typing(self, data)
        case "report.created": Report(data)
        case "user.mentioned": Mention(self, data)
        case "receipt.read": ReadReceipt(self, data)
        case "member.invited": Invite(self, data)
        case "user.banned", "user.unbanned", "user.muted", "user.unmuted": Restriction(self, data)
        default: CustomEvent(self)
        }
    }

    func wrapped<Content: Sendable>(_ content: Content) -> EventWrapper<Content> {
        EventWrapper(
            event: ContentEvent(timetoken: timetoken, userId: user ?? "", channelId: channel.name, payload: content))
    }
}

/// What an event says, in a struct of its own: ``CustomEvent``, ``Report``, ``Mention``, ``ReadReceipt``, ``Invite``,
/// ``Restriction``, ``Typing``, ``TextMessageContent``.
public protocol EventContent: Sendable {}

/// An event of history with its content.
public struct EventWrapper<Content: Sendable>: Sendable {
    public let event: ContentEvent<Content>
}

/// When and where something happened, by whom, and what it says.
public struct ContentEvent<Payload: Sendable>: Sendable {
    public let timetoken: Timetoken
    /// Empty when the gateway or an operator caused it.
    public let userId: String
    public let channelId: String
    public let payload: Payload
}

/// An event of an app's own.
public struct CustomEvent: EventContent {
    public let timetoken: Timetoken
    /// Empty when the gateway or an operator caused it.
    public let userId: String
    /// `custom` when it was sent without a type.
    public let type: String
    public let payload: [String: any JSONCodable]

    /// Whatever the event is: what is no object stands in the payload as `value`.
    init(_ event: Event) {
        timetoken = event.timetoken
        userId = event.user ?? ""
        type = event.type
        let data = AnyJSON(event.data)
        if case .object(let members) = data { payload = members } else { payload = ["value": data] }
    }
}

extension Event {
    /// Whether its type is an app's own.
    var isCustom: Bool { !BuiltInTypes.isReserved(type) }
}
