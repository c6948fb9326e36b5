public import ChatModel

extension Chat {
    /// Returns the newest `count` of a channel's stored events between the bounds, oldest first.
    ///
    /// ```swift
    /// let (events, isMore) = try await chat.getEventsHistory(channelId: "room.1", count: 10)
    /// for case let order as CustomEvent in events.map(\.event.payload) { print(order.payload) }
    /// ```
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound, exclusive; nil for no bound.
    ///   - endTimetoken: the lower bound, inclusive; nil for no bound.
    ///   - count: the maximum number of events, from 1 to the gateway's limit (250 by default).
    ///   - types: names and patterns (`order.*`, `*`) of event types. Nil selects the events that users and programs
    ///     send: messages, custom events, reports, mentions, invitations (on the invited user's own channel) and
    ///     restrictions. An event of another type, such as a record change, is returned as a ``CustomEvent``.
    /// - Returns: the events; `isMore` is true when there are more events between the bounds. Without `types`, a call
    ///   examines at most 10,000 events and returns those that it selects, possibly fewer than `count`.
    /// - Throws: `.malformed` for a count or type that the gateway rejects; `.forbidden` when the user may not read the
    ///   channel; `.tooMany` when none of 10,000 examined events is selected. The message of this error contains the
    ///   position from which to continue.
    public func getEventsHistory(
        channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100,
        types: [String]? = nil
    ) async throws(ChatError) -> (events: [EventWrapper<any EventContent>], isMore: Bool) {
        var query = EventQuery(channel: channelId)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        guard let types else {
            return try await history(query) { event in event.isSent ? event.wrapped(event.content) : nil }
        }
        query.types = types
        let page = try await backend.history(query)
        return (page.items.reversed().map { $0.wrapped($0.content) }, page.hasMore)
    }

    /// Returns a channel's stored events with one kind of content, oldest first. The bounds work as in
    /// ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:types:)``.
    ///
    /// ```swift
    /// struct Rating: EventContent, JSONCodable, Codable { var stars: Int }
    /// let (ratings, isMore) = try await chat.getEventsHistory(of: Rating.self, channelId: "room.1", count: 10)
    /// ```
    ///
    /// - Parameters:
    ///   - type: a content type of the library, or a `Decodable` type of the program. Custom events whose payload
    ///     cannot be decoded as that type are left out.
    ///   - count: the maximum number of events, from 1 to the gateway's limit (250 by default).
    /// - Throws: `.malformed` for a count that the gateway rejects; `.forbidden` when the user may not read the
    ///   channel; `.tooMany` when none of 10,000 examined events has this content. The message of this error contains
    ///   the position from which to continue.
    public func getEventsHistory<Content: EventContent>(
        of type: Content.Type, channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil,
        count: Int = 100
    ) async throws(ChatError) -> (events: [EventWrapper<Content>], isMore: Bool) {
        var query = EventQuery(channel: channelId)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        query.types = Event.types(of: type)
        return try await history(query) { event in event.decoded(as: type).map { event.wrapped($0) } }
    }

    /// The maximum number of events that one call examines.
    private static var examinedMost: Int { 10_000 }

    /// Reads pages until `query.limit` values are found, or ``examinedMost`` events were examined.
    private func history<Value>(
        _ query: EventQuery, _ read: (Event) -> Value?
    ) async throws(ChatError) -> (events: [Value], isMore: Bool) {
        var query = query
        var found: [Value] = []
        let count = query.limit
        var examined = 0
        while true {
            let page = try await backend.history(query)
            found += page.items.compactMap(read)
            guard found.count <= count, page.hasMore, let last = page.items.last else {
                return (found.prefix(count).reversed(), found.count > count)
            }
            examined += page.items.count
            guard examined < Self.examinedMost else {
                guard found.isEmpty else { return (found.reversed(), true) }
                throw ChatError(
                    .tooMany,
                    "none of the \(examined) examined events has content of a type that this call returns; to examine older events, set `startTimetoken` to \(last.timetoken)",
                    slug: "search_too_long")
            }
            query.before = last.timetoken
            // Pages after the first are larger, because most of the events may be of other types.
            query.limit = max(count, 100)
        }
    }

    /// Returns the number of a channel's stored events between the bounds; see
    /// ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:types:)``.
    ///
    /// - Parameter types: names and patterns (`order.*`) of event types; empty selects all types.
    /// - Throws: `.malformed` for a type that the gateway rejects; `.forbidden` when the user may not read the channel.
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
    /// Sets the bounds of a query: the upper bound `start` is exclusive, the lower bound `end` inclusive. The newest
    /// events come first.
    mutating func bound(start: Timetoken?, end: Timetoken?, count: Int) {
        before = start ?? .distantFuture
        after = end.map { Timetoken(max($0.rawValue, 1) - 1) } ?? .zero
        order = .newestFirst
        limit = count
    }
}

extension Event {
    /// The event's content. An event whose type has no content type of its own is a ``CustomEvent``, so that events of
    /// a newer gateway can be read.
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

    /// Returns the event types whose events have the content `content`. The result is empty, which selects all event
    /// types, for a type of the program and for a content that events of any type can have.
    fileprivate static func types(of content: any EventContent.Type) -> [String] {
        switch content {
        case is TextMessageContent.Type: [BuiltInTypes.messageCreated]
        case is Typing.Type: ["typing.started", "typing.stopped"]
        case is Report.Type: ["report.created"]
        case is Mention.Type: ["user.mentioned"]
        case is ReadReceipt.Type: ["receipt.read"]
        case is Invite.Type: ["member.invited"]
        case is Restriction.Type: ["user.banned", "user.unbanned", "user.muted", "user.unmuted"]
        default: []
        }
    }

    /// Returns the content of the event as the given type. If it is a type of the program, the payload of a custom
    /// event is decoded as this type. Returns nil when the event has another content.
    func decoded<Content: EventContent>(as type: Content.Type) -> Content? {
        if let content = content as? Content { return content }
        guard isCustom, let type = type as? any Decodable.Type else { return nil }
        // Events with other payloads are expected here and are not errors.
        return try? AnyJSON(data).decode(type) as? Content
    }

    func wrapped<Content: Sendable>(_ content: Content) -> EventWrapper<Content> {
        EventWrapper(
            event: ContentEvent(timetoken: timetoken, userId: user ?? "", channelId: channel.name, payload: content))
    }
}

/// The content of an event. Conforming types are ``CustomEvent``, ``Report``, ``Mention``, ``ReadReceipt``, ``Invite``,
/// ``Restriction``, ``Typing`` and ``TextMessageContent``, and types of the program that are also `Codable` and
/// ``JSONCodable``.
public protocol EventContent: Sendable {}

/// An event of a history, with its content.
public struct EventWrapper<Content: Sendable>: Sendable {
    /// The event with its time, channel, user and content.
    public let event: ContentEvent<Content>

    /// Wraps an event.
    public init(event: ContentEvent<Content>) { self.event = event }
}

/// An event's time, channel and user, with its content.
public struct ContentEvent<Payload: Sendable>: Sendable {
    /// The event's time, which is also its position in history.
    public let timetoken: Timetoken
    /// The id of the user who caused the event; empty when the gateway or an API key without a user caused the event.
    public let userId: String
    /// The channel's name.
    public let channelId: String
    /// The content.
    public let payload: Payload

    /// Creates an event, for example in a test.
    public init(timetoken: Timetoken, userId: String, channelId: String, payload: Payload) {
        self.timetoken = timetoken
        self.userId = userId
        self.channelId = channelId
        self.payload = payload
    }
}

/// An event with a type of the app.
public struct CustomEvent: EventContent {
    /// The event's time, which is also its position in history.
    public let timetoken: Timetoken
    /// The id of the user who caused the event; empty when the gateway or an API key without a user caused the event.
    public let userId: String
    /// The event's type; nil when the event was sent without a type.
    public let type: String?
    /// The members of the payload.
    public let payload: [String: any JSONCodable]

    /// Creates an event, for example in a test.
    public init(timetoken: Timetoken, userId: String, type: String? = nil, payload: [String: any JSONCodable]) {
        self.timetoken = timetoken
        self.userId = userId
        self.type = type
        self.payload = payload
    }

    /// Reads the content of any event. A payload that is not an object becomes the member `value`.
    init(_ event: Event) {
        timetoken = event.timetoken
        userId = event.user ?? ""
        type = event.type == BuiltInTypes.custom ? nil : event.type
        let data = AnyJSON(event.data)
        if case .object(let members) = data { payload = members } else { payload = ["value": data] }
    }
}

extension Event {
    /// True when the event's type is one of the app's own types.
    var isCustom: Bool { !BuiltInTypes.isReserved(type) }

    /// True for an event that a user or a program sent to the channel; false for changes of records and messages.
    fileprivate var isSent: Bool {
        switch type {
        case BuiltInTypes.messageCreated, "report.created", "user.mentioned", "user.banned", "user.unbanned",
            "user.muted", "user.unmuted":
            true
        // An invitation has two events. The event on the invited user's channel counts; its copy on the channel, which
        // is for the members, does not count.
        case "member.invited": AnyJSON(data)["channel"]?.text("id") != channel.name
        default: isCustom
        }
    }
}
