public import ChatModel

// The calls of the library's older generation. Each forwards to its successor.

/// The method by which the older generation sends a custom event.
@available(*, deprecated, message: "custom events are published; see Channel.emitCustomEvent")
public enum EmitEventMethod: Sendable { case publish, signal }

/// A custom event of the older generation.
@available(*, deprecated, message: "use Channel.emitCustomEvent and CustomEvent")
public struct Custom: EventContent {
    public let data: [String: any JSONCodable]
    public let method: EmitEventMethod

    public init(data: [String: any JSONCodable], method: EmitEventMethod = .publish) {
        self.data = data
        self.method = method
    }
}

@available(*, deprecated, renamed: "ReadReceipt")
public typealias Receipt = ReadReceipt

extension Report {
    @available(*, deprecated, renamed: "messageTimetoken")
    public var reportedMessageTimetoken: Timetoken? { messageTimetoken }
}

extension ReadReceipt {
    @available(*, deprecated, renamed: "lastReadTimetoken")
    public var messageTimetoken: Timetoken { lastReadTimetoken }
}

extension Typing {
    @available(*, deprecated, renamed: "isTyping")
    public var value: Bool { isTyping }
}

extension Chat {
    /// Sends a custom event without a type.
    ///
    /// - Parameter mergePayloadWith: additional members of the payload.
    @available(*, deprecated, message: "use Channel.emitCustomEvent, or Channel.signal for what nobody keeps")
    @discardableResult
    public func emitEvent(
        channelId: String, payload: Custom, mergePayloadWith: [String: any JSONCodable]? = nil
    ) async throws(ChatError) -> Timetoken {
        // Listeners of PubNub's older Chat SDKs recognize a custom event by this member.
        let members = payload.data.merging(mergePayloadWith ?? [:]) { $1 }.merging(["type": "custom"]) { own, _ in own }
        switch payload.method {
        case .publish: return try await channel(channelId).emitCustomEvent(payload: members)
        case .signal: return try await channel(channelId).signal(members.object)
        }
    }

    /// Calls back with each event of one content type on a channel.
    ///
    /// - Parameter customMethod: the method by which the wanted custom events were sent.
    @available(*, deprecated, message: "use the on… of Channel, User, Message and Membership")
    public func listenForEvents<Content: EventContent>(
        type: Content.Type = Content.self, channelId: String, customMethod: EmitEventMethod = .publish,
        callback: @escaping @Sendable (EventWrapper<Content>) -> Void
    ) -> AutoCloseable {
        events(of: [], on: [channelId]) { event in
            event.olderContent(customMethod).flatMap { $0 as? Content }.map { event.wrapped($0) }
        }.listen { callback($0) }
    }
}

extension Event {
    @available(*, deprecated)
    fileprivate func olderContent(_ method: EmitEventMethod) -> (any EventContent)? {
        switch method {
        case .publish where type == BuiltInTypes.custom: Custom(data: olderPayload)
        case .signal where type == BuiltInTypes.signalSent: Custom(data: olderPayload, method: .signal)
        case .publish, .signal: content
        }
    }

    /// The payload without the member by which the older generation recognizes a custom event.
    private var olderPayload: [String: any JSONCodable] {
        var payload = CustomEvent(self).payload
        if payload["type"]?.json == "custom" { payload["type"] = nil }
        return payload
    }
}

extension Channel {
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (Channel?) -> Void) -> [AutoCloseable] {
        [onUpdated { callback($0) }, onDeleted { callback(nil) }]
    }

    @available(*, deprecated, message: "use onUpdated of each channel")
    public static func streamUpdatesOn(
        channels: [Channel], callback: @escaping @Sendable (Channel) -> Void
    ) -> [AutoCloseable] {
        channels.map { $0.onUpdated(callback) }
    }

    @available(*, deprecated, renamed: "onMessageReceived")
    public func connect(callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        onMessageReceived(callback)
    }

    @available(*, deprecated, renamed: "onTypingChanged")
    public func getTyping(callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        onTypingChanged(callback)
    }

    @available(*, deprecated, renamed: "onPresenceChanged")
    public func streamPresence(callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        onPresenceChanged(callback)
    }

    @available(*, deprecated, renamed: "onReadReceiptReceived")
    public func streamReadReceipts(callback: @escaping @Sendable (ReadReceipt) -> Void) -> AutoCloseable {
        onReadReceiptReceived(callback)
    }

    @available(*, deprecated, renamed: "onMessageReported")
    public func streamMessageReports(callback: @escaping @Sendable (Report) -> Void) -> AutoCloseable {
        onMessageReported(callback)
    }
}

extension User {
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (User?) -> Void) -> [AutoCloseable] {
        [onUpdated { callback($0) }, onDeleted { callback(nil) }]
    }

    @available(*, deprecated, message: "use onUpdated of each")
    public static func streamUpdatesOn(
        users: [User], callback: @escaping @Sendable (User) -> Void
    ) -> [AutoCloseable] {
        users.map { $0.onUpdated(callback) }
    }
}

extension Membership {
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (Membership?) -> Void) -> [AutoCloseable] {
        [onUpdated { callback($0) }, onDeleted { callback(nil) }]
    }

    @available(*, deprecated, message: "use onUpdated of each")
    public static func streamUpdatesOn(
        memberships: [Membership], callback: @escaping @Sendable (Membership) -> Void
    ) -> [AutoCloseable] {
        memberships.map { $0.onUpdated(callback) }
    }
}

extension Message {
    @available(*, deprecated, renamed: "onUpdated")
    public func streamUpdates(callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        onUpdated(callback)
    }

    @available(*, deprecated, message: "use onUpdated of each")
    public static func streamUpdatesOn(
        messages: [Message], callback: @escaping @Sendable (Message) -> Void
    ) -> [AutoCloseable] {
        messages.map { $0.onUpdated(callback) }
    }
}
