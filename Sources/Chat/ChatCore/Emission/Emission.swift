public import ChatModel
public import JSON

/// An event that a sender wants to emit on a channel, before any check. Interfaces translate their requests into
/// emissions.
public struct Emission: Sendable {
    /// The channel's name.
    public var channel: String
    /// A custom type, or a built-in type when the interface has its own call for it (`allowsBuiltInType`).
    public var type: String
    public var kind: EventKind
    /// The payload, byte for byte.
    public var data: JSONText
    /// The payload as parsed by the interface, if it has parsed it; validation then does not parse it again.
    public var value: JSONValue?
    /// The user who emits; nil for the credential's own user, or for none.
    public var user: String?
    /// The metadata of the event.
    public var meta: JSONText?
    /// A label that the sender chooses; stored with the event.
    public var customType: String?
    /// The payload that readers of a wire dialect get, when it differs from `data`.
    public var wire: JSONText?
    /// The retention: whether the event enters history.
    public var retention: Retention
    /// Shortens the app's retention for this event.
    public var timeToLive: Duration?
    /// The users and interfaces that receive the event.
    public var audience: Audience
    /// Within the deduplication window, a repeat on the same channel returns the first event.
    public var deduplicationKey: String?
    /// The cause of the event, when it is to be stored as long as the event.
    public var cause: String?
    /// Set by the interface for its own calls (messages, signals); senders never choose a built-in type.
    public var allowsBuiltInType: Bool

    /// An event with a type; `custom` when the sender gave none.
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
