public import ChatModel

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
