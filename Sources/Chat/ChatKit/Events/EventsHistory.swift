public import ChatModel

extension Chat {
    /// Returns a channel's stored events, oldest first: the newest `count` events between the bounds.
    ///
    /// ```swift
    /// let (events, isMore) = try await chat.getEventsHistory(channelId: "room.1", count: 10)
    /// for case let order as CustomEvent in events.map(\.event.payload) { print(order.payload) }
    /// ```
    ///
    /// - Parameters:
    ///   - startTimetoken: the upper bound, exclusive: only older events.
    ///   - endTimetoken: the lower bound, inclusive: only this and newer events.
    ///   - count: the maximum number of events, from 1 to the gateway's limit (250 unless configured); 100 if omitted.
    ///   - types: names and patterns (`order.*`, `*`) of event types. Nil selects what users have sent: messages, custom
    ///     events, reports, mentions, invitations (on the invited user's own channel) and restrictions. Events of other
    ///     types, such as changes of records, come as ``CustomEvent``.
    /// - Returns: the events; `isMore` is true when there are more between the bounds.
    ///   Without `types`, a call examines at most 10,000 events; what it has found by then is returned as one part of
    ///   more.
    /// - Throws: `.malformed` for a count or type that the gateway refuses; `.forbidden` when the user may not read the
    ///   channel; `.tooMany` when none of 10,000 examined events is of these types, with the position at which to go on.
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

    /// Returns a channel's stored events with one kind of content, oldest first.
    ///
    /// ```swift
    /// struct Rating: EventContent, JSONCodable, Codable { var stars: Int }
    /// let (ratings, isMore) = try await chat.getEventsHistory(of: Rating.self, channelId: "room.1", count: 10)
    /// ```
    ///
    /// - Parameters:
    ///   - type: a content of the library, or a `Decodable` type of the program. Custom events whose payload does not
    ///     have the form of that type are left out.
    ///   - count: the maximum number of events; the bounds are those of
    ///     ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:types:)``.
    /// - Throws: `.malformed` for a count that the gateway refuses; `.forbidden` when the user may not read the channel;
    ///   `.tooMany` when none of 10,000 examined events has this content, with the position at which to go on.
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
                    "none of \(examined) events has this content; to go on, set `startTimetoken` to \(last.timetoken)",
                    slug: "search_too_long")
            }
            query.before = last.timetoken
            // Later pages are larger, because most of the events may be of other types.
            query.limit = max(count, 100)
        }
    }

    /// Returns the number of a channel's stored events between the bounds; see
    /// ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:types:)``.
    ///
    /// - Parameter types: names and patterns (`order.*`) of event types; empty selects all.
    /// - Throws: `.malformed` for a type that the gateway refuses; `.forbidden` when the user may not read the channel.
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

    /// The types of the events with a content; empty for contents of the program's own and for those of all types.
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

    /// The content as a type of the library, or as a type of the program that the payload of a custom event is decoded
    /// into; nil when the event has another content.
    func decoded<Content: EventContent>(as type: Content.Type) -> Content? {
        if let content = content as? Content { return content }
        guard isCustom, let type = type as? any Decodable.Type else { return nil }
        // Events of other types are expected here; they are no errors.
        return try? AnyJSON(data).decode(type) as? Content
    }

    func wrapped<Content: Sendable>(_ content: Content) -> EventWrapper<Content> {
        EventWrapper(
            event: ContentEvent(timetoken: timetoken, userId: user ?? "", channelId: channel.name, payload: content))
    }
}

/// The content of an event: ``CustomEvent``, ``Report``, ``Mention``, ``ReadReceipt``, ``Invite``, ``Restriction``,
/// ``Typing`` or ``TextMessageContent``, or a type of the program that is also `Codable` and ``JSONCodable``.
public protocol EventContent: Sendable {}

/// An event of a history with its content.
public struct EventWrapper<Content: Sendable>: Sendable {
    /// The event's time, channel, user and content.
    public let event: ContentEvent<Content>

    /// Wraps an event.
    public init(event: ContentEvent<Content>) { self.event = event }
}

/// An event's time, channel and user, with its content.
public struct ContentEvent<Payload: Sendable>: Sendable {
    /// The event's position in history, and its time.
    public let timetoken: Timetoken
    /// The user's id; empty when the gateway or an operator caused the event.
    public let userId: String
    /// The channel's name.
    public let channelId: String
    /// The content.
    public let payload: Payload

    /// An event, for example in a test.
    public init(timetoken: Timetoken, userId: String, channelId: String, payload: Payload) {
        self.timetoken = timetoken
        self.userId = userId
        self.channelId = channelId
        self.payload = payload
    }
}

/// An event of the app's own type.
public struct CustomEvent: EventContent {
    /// The event's position in history, and its time.
    public let timetoken: Timetoken
    /// The user's id; empty when the gateway or an operator caused the event.
    public let userId: String
    /// The type; nil when the event was sent without one.
    public let type: String?
    /// The members of the payload.
    public let payload: [String: any JSONCodable]

    /// An event, for example in a test.
    public init(timetoken: Timetoken, userId: String, type: String? = nil, payload: [String: any JSONCodable]) {
        self.timetoken = timetoken
        self.userId = userId
        self.type = type
        self.payload = payload
    }

    /// Reads any event. Data that is no object becomes the payload's member `value`.
    init(_ event: Event) {
        timetoken = event.timetoken
        userId = event.user ?? ""
        type = event.type == BuiltInTypes.custom ? nil : event.type
        let data = AnyJSON(event.data)
        if case .object(let members) = data { payload = members } else { payload = ["value": data] }
    }
}

extension Event {
    /// True when the event's type is the app's own.
    var isCustom: Bool { !BuiltInTypes.isReserved(type) }

    /// True for what a user or a program has sent to the channel, in contrast to changes of records and messages.
    fileprivate var isSent: Bool {
        switch type {
        case BuiltInTypes.messageCreated, "report.created", "user.mentioned", "user.banned", "user.unbanned",
            "user.muted", "user.unmuted":
            true
        // The channel's own copy is for the members; the invitation itself is on the invited user's channel.
        case "member.invited": AnyJSON(data)["channel"]?.text("id") != channel.name
        default: isCustom
        }
    }
}
