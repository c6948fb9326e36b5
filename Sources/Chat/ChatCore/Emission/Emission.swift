public import ChatModel
public import JSON

/// What a sender wants to happen on a channel, before any check. Interfaces translate their requests into this.
public struct Emission: Sendable {
    public var channel: String
    /// A custom type, or a built-in one when the interface has a call of its own for it (`allowsBuiltInType`).
    public var type: String
    public var kind: EventKind
    /// The payload, byte for byte.
    public var data: JSONText
    /// The same as its interface has parsed it, if it has: the gate need not do it again.
    public var value: JSONValue?
    public var user: String?
    public var meta: JSONText?
    public var customType: String?
    /// The text a dialect's readers get when it differs from `data` (`events.md` 5).
    public var wire: JSONText?
    public var retention: Retention
    /// Shortens the app's retention for this event.
    public var timeToLive: Duration?
    public var audience: Audience
    /// A repeat within the window on the same channel gives back the first event.
    public var deduplicationKey: String?
    /// What caused it, where that is to be known for as long as the event is.
    public var cause: String?
    /// Set by the interface for its own calls (messages, signals); senders never choose a built-in type.
    public var allowsBuiltInType: Bool

    /// A typed event; `custom` when the sender gave no type.
    public init(
        channel: String, type: String = BuiltInTypes.custom, data: JSONText, user: String? = nil,
        meta: JSONText? = nil, retention: Retention = .kept
    ) {
        self.channel = channel
        self.type = type
        kind = .message
        self.data = data
        self.user = user
        self.meta = meta
        self.retention = retention
        audience = .subscribers
        allowsBuiltInType = false
    }

    /// A chat message: type `message.created`, any JSON as its payload.
    public static func message(channel: String, data: JSONText, user: String?, meta: JSONText?) -> Emission {
        var emission = Emission(
            channel: channel, type: BuiltInTypes.messageCreated, data: data, user: user, meta: meta)
        emission.kind = .message
        emission.allowsBuiltInType = true
        return emission
    }

    /// A signal: small, ephemeral, type `signal.sent`.
    public static func signal(channel: String, data: JSONText, user: String?) -> Emission {
        var emission = Emission(
            channel: channel, type: BuiltInTypes.signalSent, data: data, user: user, retention: .passing)
        emission.kind = .signal
        emission.allowsBuiltInType = true
        return emission
    }
}
