public import ChatModel

// The event contents and event calls of the library's older generation. Each call forwards to the call that replaces
// it.

/// The way in which the older generation of this library sends a custom event: as a published event or as a signal.
@available(*, deprecated, message: "use Channel.emitCustomEvent; custom events are sent like messages")
public enum EmitEventMethod: Sendable { case publish, signal }

/// A custom event of the older generation.
@available(*, deprecated, message: "use Channel.emitCustomEvent and CustomEvent")
public struct Custom: EventContent {
    /// The payload.
    public let data: [String: any JSONCodable]
    /// The way in which the event is sent.
    public let method: EmitEventMethod

    /// Creates an event with a payload.
    public init(data: [String: any JSONCodable], method: EmitEventMethod = .publish) {
        self.data = data
        self.method = method
    }
}

/// The older name of ``ReadReceipt``.
@available(*, deprecated, renamed: "ReadReceipt")
public typealias Receipt = ReadReceipt

extension Report {
    /// The older name of ``messageTimetoken``.
    @available(*, deprecated, renamed: "messageTimetoken")
    public var reportedMessageTimetoken: Timetoken? { messageTimetoken }

    /// Creates a report of a message. ``Message/report(reason:)`` sends a report.
    @available(*, deprecated, message: "use Message.report(reason:)")
    public init(
        text: String? = nil, reason: String, reportedMessageTimetoken: Timetoken,
        reportedMessageChannelId: String? = nil, reportedUserId: String? = nil, autoModerationId: String? = nil
    ) {
        self.init(
            reason: reason, text: text, messageTimetoken: reportedMessageTimetoken,
            reportedMessageChannelId: reportedMessageChannelId, reportedUserId: reportedUserId,
            autoModerationId: autoModerationId)
    }
}

extension Mention {
    /// The older name of ``channelId``.
    @available(*, deprecated, renamed: "channelId")
    public var channel: String { channelId }

    /// The older name of ``parentChannelId``.
    @available(*, deprecated, renamed: "parentChannelId")
    public var parentChannel: String? { parentChannelId }

    /// Creates a mention without the user who made it.
    @available(*, deprecated, message: "use usersToMention of Channel.sendText")
    public init(messageTimetoken: Timetoken, channel: String, parentChannel: String? = nil) {
        self.init(
            messageTimetoken: messageTimetoken, channelId: channel, parentChannelId: parentChannel,
            mentionedByUserId: "")
    }
}

extension ReadReceipt {
    /// The older name of ``lastReadTimetoken``.
    @available(*, deprecated, renamed: "lastReadTimetoken")
    public var messageTimetoken: Timetoken { lastReadTimetoken }

    /// Creates a receipt of the chat's user, with the timetoken of the newest message that the user has read.
    @available(*, deprecated, message: "use Membership.setLastReadMessageTimetoken(_:)")
    public init(messageTimetoken: Timetoken) { self.init(userId: "", lastReadTimetoken: messageTimetoken) }
}

extension Invite {
    /// Creates an invitation without the user who made it.
    @available(*, deprecated, message: "use Channel.invite(_:)")
    public init(channelType: ChannelType, channelId: String) {
        self.init(channelId: channelId, channelType: channelType, invitedByUserId: "", invitationTimetoken: .zero)
    }
}

extension Typing {
    /// The older name of ``isTyping``.
    @available(*, deprecated, renamed: "isTyping")
    public var value: Bool { isTyping }

    /// Creates the event that the chat's user began (true) or stopped (false) typing.
    @available(*, deprecated, message: "use Channel.startTyping() and Channel.stopTyping()")
    public init(value: Bool) { self.init(userId: "", isTyping: value) }
}

// MARK: - Emitting

extension Chat {
    /// Sends an event with any content. The content's type determines the operation:
    ///
    /// - ``Custom``, ``CustomEvent``, ``TextMessageContent`` and types of the program are published in the channel. A
    ///   type of the program must be ``JSONCodable`` and print an object.
    /// - A ``Mention`` is published as a custom event of the type `mention`. ``User/onMentioned(_:)`` of the user whose
    ///   id is `channelId` also receives it.
    /// - A ``Report`` reports the message. ``Typing`` starts or stops typing. A ``ReadReceipt`` moves the read mark. An
    ///   ``Invite`` invites the user whose id is `channelId`. A ``Restriction`` restricts the user whom it names.
    /// - If `mergePayloadWith` has members, a ``Report``, ``Typing``, ``ReadReceipt``, ``Invite`` or ``Restriction``
    ///   has none of these effects. It is only published, as an event in the form of PubNub's Chat SDKs, and only
    ///   listeners for this content receive the event.
    ///
    /// - Parameter mergePayloadWith: additional members of the payload; nil for none.
    /// - Returns: the timetoken of a published event; zero for other contents.
    /// - Throws: `.malformed` for a content that cannot be sent; otherwise the error of the operation.
    @available(*, deprecated, message: "use Channel.emitCustomEvent, or a method such as Message.report(reason:)")
    @discardableResult
    public func emitEvent<Content: EventContent>(
        channelId: String, payload: Content, mergePayloadWith: [String: any JSONCodable]? = nil
    ) async throws(ChatError) -> Timetoken {
        let channel = self.channel(channelId)
        let extra = mergePayloadWith ?? [:]
        switch payload {
        case let custom as Custom:
            // Listeners of PubNub's older Chat SDKs recognize a custom event by this member.
            let members = custom.data.merging(extra) { $1 }.merging(["type": "custom"]) { own, _ in own }
            switch custom.method {
            case .publish: return try await channel.emitCustomEvent(payload: members)
            case .signal: return try await channel.signal(try members.encodedObject())
            }
        case let event as CustomEvent:
            return try await channel.emitCustomEvent(
                payload: event.payload.merging(extra) { $1 }, messageType: event.type)
        case let mention as Mention: return try await mention.publish(in: channel, extra)
        case let content as any EmittedContent where !extra.isEmpty:
            return try await content.publish(in: channel, extra)
        case let message as TextMessageContent:
            let content = try extra.isEmpty ? message.content : message.content.merging(extra, into: Content.self)
            return try await backend.post(OutgoingMessage(.message, on: channelId, data: content.text))
        case let own as any JSONCodable:
            let members = try own.encoded().merging(extra, into: Content.self)
            return try await channel.emitCustomEvent(payload: members.members)
        default:
            try await send(payload, to: channelId)
            return .zero
        }
    }

    @available(*, deprecated)
    private func send(_ content: some EventContent, to channelId: String) async throws(ChatError) {
        switch content {
        case let report as Report:
            guard let timetoken = report.messageTimetoken else {
                throw ChatError(.malformed, "'messageTimetoken' of a Report is required; it names the reported message")
            }
            let channel = report.reportedMessageChannelId ?? channelId
            try await backend.report(timetoken, in: channel, reason: report.reason)
        case let typing as Typing:
            let isOwn = typing.userId.isEmpty || typing.userId == userId
            let typist = isOwn ? backend : backend.acting(as: typing.userId)
            try await typist.setTyping(typing.isTyping, in: channelId)
        case let receipt as ReadReceipt:
            let user = receipt.userId.isEmpty ? userId : receipt.userId
            try await backend.mark(.read, of: user, in: channelId, at: receipt.lastReadTimetoken)
        case let invite as Invite: _ = try await backend.invite([channelId], to: invite.channelId)
        case let restriction as Restriction:
            try await backend.restrict(
                restriction.userId, in: channelId, ban: restriction.ban, mute: restriction.mute,
                reason: restriction.reason, until: nil)
        default:
            throw ChatError(
                .malformed, "a \(type(of: content)) cannot be sent; make the type conform to Codable and JSONCodable")
        }
    }
}

extension AnyJSON {
    /// Returns the object with additional members. An additional member replaces a member with the same name.
    fileprivate func merging(_ extra: [String: any JSONCodable], into type: Any.Type) throws(ChatError) -> AnyJSON {
        guard case .object(let members) = self else {
            throw ChatError(.malformed, "a \(type) must be a JSON object; got \(text)")
        }
        return .object(members.merging(try extra.encodedObject().members) { $1 })
    }
}

// MARK: - Listening

extension Chat {
    /// Calls `callback` with each event on a channel whose payload has the type `Content`.
    ///
    /// - Parameters:
    ///   - type: one of the library's payload types, or your own `Decodable` type. Custom events that cannot be decoded
    ///     as that type are skipped.
    ///   - customMethod: the method by which the custom events were sent. Custom events that were sent by the other
    ///     method are skipped.
    @available(*, deprecated, message: "use the methods of Channel, User, Message and Membership that begin with 'on'")
    public func listenForEvents<Content: EventContent>(
        type: Content.Type = Content.self, channelId: String, customMethod: EmitEventMethod = .publish,
        callback: @escaping @Sendable (EventWrapper<Content>) -> Void
    ) -> AutoCloseable {
        contents(type, channelId, customMethod).listen { callback($0) }
    }

    /// Returns the events on a channel whose content has the type `Content`, as a sequence. The sequence connects
    /// immediately.
    @available(*, deprecated, message: "use the property stream of Channel, User, Message and Membership")
    public func listenForEvents<Content: EventContent>(
        type: Content.Type = Content.self, channelId: String, customMethod: EmitEventMethod = .publish
    ) -> AsyncStream<EventWrapper<Content>> {
        contents(type, channelId, customMethod).started()
    }

    /// Returns the events on a channel whose content has the type `Content`. Custom events are included only if they were
    /// sent by `method`.
    @available(*, deprecated)
    package func contents<Content: EventContent>(
        _ type: Content.Type, _ channelId: String, _ method: EmitEventMethod
    ) -> ChatStream<EventWrapper<Content>> {
        events(of: [], on: [channelId]) { event in event.olderContent(type, method).map { event.wrapped($0) } }
    }
}

extension Event {
    @available(*, deprecated)
    fileprivate func olderContent<Content: EventContent>(
        _ wanted: Content.Type, _ method: EmitEventMethod
    ) -> Content? {
        if let type = wanted as? any EmittedContent.Type, let content = type.init(emitted: self) as? Content {
            return content
        }
        let isSignal = kind == .signal
        if isCustom || isSignal {
            guard isSignal == (method == .signal) else { return nil }
            if wanted == Custom.self {
                guard isSignal || type == BuiltInTypes.custom else { return nil }
                return Custom(data: olderPayload, method: method) as? Content
            }
        }
        return decoded(as: wanted)
    }

    /// The app's payload of a custom event of the older generation. The member `type` with the value `custom` is left
    /// out, because it only marks the event as a custom event.
    private var olderPayload: [String: any JSONCodable] {
        var payload = CustomEvent(self).payload
        if payload["type"]?.json == "custom" { payload["type"] = nil }
        return payload
    }
}
