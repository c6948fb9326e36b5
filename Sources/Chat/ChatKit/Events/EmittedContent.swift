import ChatModel

/// A content of the library that ``Chat/emitEvent(channelId:payload:mergePayloadWith:)`` can also publish as an event in
/// the form of PubNub's Chat SDKs. The payload of the event can have additional members.
protocol EmittedContent: EventContent {
    /// The type of the published event, which is also the member `type` of its payload.
    static var eventType: String { get }
    /// True when the content is published as a signal, which is a small event that is not stored.
    static var isSignal: Bool { get }
    /// The members of the payload, except `type`.
    var emittedMembers: [String: any JSONCodable] { get }

    /// Reads the content from the payload of an event. Returns nil when the payload does not have the form of this
    /// content.
    init?(emitted event: Event, _ data: AnyJSON)
}

extension EmittedContent {
    static var isSignal: Bool { false }

    /// Reads the content from an event that was published in the form of PubNub's Chat SDKs. Returns nil for any other
    /// event.
    init?(emitted event: Event) {
        let data = AnyJSON(event.data)
        let isSent = Self.isSignal ? event.kind == .signal : event.type == Self.eventType
        guard isSent, data.text("type") == Self.eventType else { return nil }
        self.init(emitted: event, data)
    }

    /// Publishes the content as an event. An additional member replaces a member of the content with the same name.
    func publish(in channel: Channel, _ extra: [String: any JSONCodable]) async throws(ChatError) -> Timetoken {
        let payload = emittedMembers.merging(["type": Self.eventType]) { own, _ in own }.merging(extra) { $1 }
        return Self.isSignal
            ? try await channel.signal(try payload.encodedObject())
            : try await channel.emitCustomEvent(payload: payload, messageType: Self.eventType)
    }
}

extension Mention: EmittedContent {
    static let eventType = "mention"

    var emittedMembers: [String: any JSONCodable] {
        var members: [String: any JSONCodable] = [
            "messageTimetoken": messageTimetoken.description, "channel": channelId,
        ]
        if let parentChannelId { members["parentChannel"] = parentChannelId }
        return members
    }

    init?(emitted event: Event, _ data: AnyJSON) {
        guard let timetoken = data.timetoken("messageTimetoken"), let channel = data.text("channel") else { return nil }
        self.init(
            messageTimetoken: timetoken, channelId: channel, parentChannelId: data.text("parentChannel"),
            mentionedByUserId: event.user ?? "")
    }
}

extension Report: EmittedContent {
    static let eventType = "report"

    var emittedMembers: [String: any JSONCodable] {
        var members: [String: any JSONCodable] = ["reason": reason]
        let texts = [
            "text": text, "reportedMessageTimetoken": messageTimetoken?.description,
            "reportedMessageChannelId": reportedMessageChannelId, "reportedUserId": reportedUserId,
            "autoModerationId": autoModerationId,
        ]
        for case (let name, let text?) in texts { members[name] = text }
        return members
    }

    init?(emitted event: Event, _ data: AnyJSON) {
        guard let reason = data.text("reason") else { return nil }
        self.init(
            reason: reason, text: data.text("text"), messageTimetoken: data.timetoken("reportedMessageTimetoken"),
            reportedMessageChannelId: data.text("reportedMessageChannelId"),
            reportedUserId: data.text("reportedUserId"), autoModerationId: data.text("autoModerationId"))
    }
}

extension ReadReceipt: EmittedContent {
    static let eventType = "receipt"
    static let isSignal = true

    var emittedMembers: [String: any JSONCodable] { ["messageTimetoken": lastReadTimetoken.description] }

    init?(emitted event: Event, _ data: AnyJSON) {
        guard let timetoken = data.timetoken("messageTimetoken") else { return nil }
        self.init(userId: event.user ?? "", lastReadTimetoken: timetoken)
    }
}

extension Typing: EmittedContent {
    static let eventType = "typing"
    static let isSignal = true

    var emittedMembers: [String: any JSONCodable] { ["value": isTyping] }

    init?(emitted event: Event, _ data: AnyJSON) {
        guard case .boolean(let value) = data["value"] else { return nil }
        self.init(userId: event.user ?? "", isTyping: value)
    }
}

extension Invite: EmittedContent {
    static let eventType = "invite"

    /// The members of the payload: the channel of the invitation and the type of the channel. The event itself is on
    /// the invited user's channel.
    var emittedMembers: [String: any JSONCodable] { ["channelId": channelId, "channelType": channelType.rawValue] }

    init?(emitted event: Event, _ data: AnyJSON) {
        guard let channel = data.text("channelId") else { return nil }
        self.init(
            channelId: channel, channelType: data.text("channelType").flatMap { ChannelType(rawValue: $0) } ?? .unknown,
            invitedByUserId: event.user ?? "", invitationTimetoken: event.timetoken)
    }
}

extension Restriction: EmittedContent {
    static let eventType = "moderation"

    private static let prefix = "PUBNUB_INTERNAL_MODERATION_"
    private static let userPrefix = "PUBNUB_INTERNAL_MODERATION."

    /// The members of the payload. As in PubNub's Chat SDKs, the member `channelId` begins with the prefix
    /// `PUBNUB_INTERNAL_MODERATION_`, before the name of the channel.
    var emittedMembers: [String: any JSONCodable] {
        var members: [String: any JSONCodable] = [
            "channelId": Self.prefix + channelId,
            "restriction": ban ? "banned" : mute ? "muted" : "lifted",
        ]
        if let reason { members["reason"] = reason }
        return members
    }

    init?(emitted event: Event, _ data: AnyJSON) {
        guard let channel = data.text("channelId"), let word = data.text("restriction") else { return nil }
        let user = event.channel.name
        self.init(
            userId: user.hasPrefix(Self.userPrefix) ? String(user.dropFirst(Self.userPrefix.count)) : user,
            channelId: channel.hasPrefix(Self.prefix) ? String(channel.dropFirst(Self.prefix.count)) : channel,
            ban: word == "banned", mute: word == "muted",
            reason: data.text("reason"))
    }
}
