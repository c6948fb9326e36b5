public import ChatModel

/// The report of a message to the moderators of its channel.
public struct Report: EventContent, Equatable {
    public let reason: String
    public let text: String?
    public let messageTimetoken: Timetoken?
    public let reportedMessageChannelId: String?
    public let reportedUserId: String?
    /// The rule that made the report; nil when a user made it.
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

/// The mention of the user in a message.
public struct Mention: EventContent, Equatable {
    public let messageTimetoken: Timetoken
    /// The channel or thread that holds the message.
    public let channelId: String
    /// The thread's channel when the message is in a thread.
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

/// The read mark of a user: the user has read up to a message.
public struct ReadReceipt: EventContent, Equatable {
    public let userId: String
    public let lastReadTimetoken: Timetoken

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        lastReadTimetoken = data.timetoken("read_timetoken") ?? .zero
    }
}

/// The invitation of the user to a channel.
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

/// The mute or ban of a user in a channel, or its end.
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
        // A restriction that has ended names the reason for its end.
        reason = data.text("end_reason") ?? restriction.text("reason")
    }
}

/// The start or end of a user's typing.
public struct Typing: EventContent, Equatable {
    public let userId: String
    public let isTyping: Bool

    init(_ event: Event, _ data: AnyJSON) {
        userId = data["user"]?.text("id") ?? event.user ?? ""
        isTyping = event.type == "typing.started"
    }
}

/// A message that was sent.
public struct TextMessageContent: EventContent, Equatable {
    /// The text; empty when the message has none.
    public let text: String
    /// The whole payload.
    public let content: AnyJSON

    init(_ data: AnyJSON) {
        text = data.messageText
        content = data
    }
}

/// The type of a channel.
public enum ChannelType: String, Sendable, CaseIterable {
    case direct, group, `public`, open
    /// The channel has no record.
    case unknown

    init(_ name: String?) { self = name.flatMap { ChannelType(rawValue: $0) } ?? .unknown }
}

extension AnyJSON {
    func text(_ name: String) -> String? { self[name]?.string }

    func timetoken(_ name: String) -> Timetoken? { text(name).flatMap { Timetoken(text: $0) } }

    func flag(_ name: String) -> Bool { self[name] == .boolean(true) }

    /// The text of a message: the member `text`, or the value itself when it is a bare string.
    var messageText: String { text("text") ?? string ?? "" }
}

extension Chat {
    /// Returns a channel's stored events, oldest first: the newest `count` events between the bounds.
    ///
    /// ```swift
    /// let (events, isMore) = try await chat.getEventsHistory(channelId: "room.1", count: 10)
    /// for case let order as CustomEvent in events.map(\.event.payload) { print(order.type) }
    /// ```
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound, exclusive: only older events.
    ///   - endTimetoken: the lower bound, inclusive: only this and newer events.
    ///   - count: the maximum number of events, from 1 to the gateway's limit (250 unless configured); 100 if omitted.
    /// - Returns: the events; `isMore` is true when there are more between the bounds.
    public func getEventsHistory(
        channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100
    ) async throws(ChatError) -> (events: [EventWrapper<any EventContent>], isMore: Bool) {
        var query = EventQuery(channel: channelId)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        let page = try await backend.history(query)
        return (page.items.reversed().map { $0.wrapped($0.content) }, page.hasMore)
    }

    /// Returns the number of a channel's stored events between the bounds; see
    /// ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:)``.
    ///
    /// - Parameter types: names and patterns (`order.*`) of event types; empty selects all.
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
    /// Sets the bounds of a history of messages or events: start exclusive, end inclusive, newest first.
    mutating func bound(start: Timetoken?, end: Timetoken?, count: Int) {
        before = start ?? .distantFuture
        after = end.map { Timetoken(max($0.rawValue, 1) - 1) } ?? .zero
        order = .newestFirst
        limit = count
    }
}

extension Event {
    /// The event's content. An event without a struct of its own is a ``CustomEvent`` with the event's type, so that an
    /// event type of a newer gateway does not make a history unreadable.
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

/// The content of an event: ``CustomEvent``, ``Report``, ``Mention``, ``ReadReceipt``, ``Invite``, ``Restriction``,
/// ``Typing`` or ``TextMessageContent``.
public protocol EventContent: Sendable {}

/// An event of a history with its content.
public struct EventWrapper<Content: Sendable>: Sendable {
    public let event: ContentEvent<Content>
}

/// An event's time, channel and user, with its content.
public struct ContentEvent<Payload: Sendable>: Sendable {
    public let timetoken: Timetoken
    /// The user's id; empty when the gateway or an operator caused the event.
    public let userId: String
    public let channelId: String
    public let payload: Payload
}

/// An event of the app's own type.
public struct CustomEvent: EventContent {
    public let timetoken: Timetoken
    /// The user's id; empty when the gateway or an operator caused the event.
    public let userId: String
    /// The type; `custom` when the event was sent without one.
    public let type: String
    public let payload: [String: any JSONCodable]

    /// Reads any event. Data that is no object becomes the payload's member `value`.
    init(_ event: Event) {
        timetoken = event.timetoken
        userId = event.user ?? ""
        type = event.type
        let data = AnyJSON(event.data)
        if case .object(let members) = data { payload = members } else { payload = ["value": data] }
    }
}

extension Event {
    /// True when the event's type is the app's own.
    var isCustom: Bool { !BuiltInTypes.isReserved(type) }
}
