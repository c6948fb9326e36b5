import ChatModel
import JSON

/// One event, translated into calls of a ``ChannelDelegate``.
struct DelegateEvent: Sendable {
    let chat: Chat
    let event: Event
    let data: AnyJSON
    let channel: Channel

    init(_ chat: Chat, _ event: Event) {
        self.chat = chat
        self.event = event
        data = AnyJSON(event.data)
        channel = Channel(
            chat: chat, id: event.channel.name, shown: event.isGateways ? event.data.rawMember("channel") : nil)
    }

    func tell(_ delegate: any ChannelDelegate) async {
        switch event.type.prefix(while: { $0 != "." }) {
        case "message", "user", "reaction", "thread": await tellOfMessages(delegate)
        case "channel": tellOfRecord(delegate)
        default: tellOfMembers(delegate)
        }
    }

    private func tellOfMessages(_ delegate: any ChannelDelegate) async {
        switch event.type {
        case "message.created": delegate.channel(channel, didReceive: Message(chat: chat, MessageState(event)))
        case "message.updated":
            if let message = await message { delegate.channel(channel, didUpdate: message) }
        case "message.deleted":
            delegate.channel(channel, messageWasDeleted: data["message"]?.timetoken("timetoken") ?? .zero)
        case "user.mentioned":
            if let message = await message {
                let place = Channel(chat: chat, id: message.channelId, shown: event.data.rawMember("channel"))
                delegate.channel(place, didReceiveMention: message)
            }
        case "reaction.added", "reaction.removed":
            delegate.channel(channel, updatedReaction: ReactionEvent(event, data))
        case "thread.updated": delegate.channelDidUpdateThreadInfo(channel, event: ThreadEvent(data))
        default: tellOfRestrictions(delegate)
        }
    }

    private func tellOfRecord(_ delegate: any ChannelDelegate) {
        switch event.type {
        case "channel.updated": delegate.channelWasChanged(channel)
        case "channel.deleted": delegate.channelWasDeleted(channel.id, channelType: channel.type)
        case "channel.frozen": delegate.channelWasFrozen(channel)
        case "channel.unfrozen": delegate.channelWasUnfrozen(channel)
        case "channel.hidden": delegate.channelWasHidden(channel)
        case "channel.member_count.updated": delegate.channelDidChangeMemberCount(channels)
        case "channel.participant_count.updated": delegate.channelDidChangeParticipantCount(channels)
        default: tellOfValues(delegate)
        }
    }

    private func tellOfValues(_ delegate: any ChannelDelegate) {
        switch event.type {
        case "channel.metadata.created": delegate.channel(channel, createdMetaData: data.texts("metadata"))
        case "channel.metadata.updated": delegate.channel(channel, updatedMetaData: data.texts("metadata"))
        case "channel.metadata.deleted": delegate.channel(channel, deletedMetaDataKeys: data.list("keys"))
        case "channel.metacounter.created": delegate.channel(channel, createdMetaCounters: data.counts("metacounter"))
        case "channel.metacounter.updated": delegate.channel(channel, updatedMetaCounters: data.counts("metacounter"))
        case "channel.metacounter.deleted": delegate.channel(channel, deletedMetaCountersKeys: data.list("keys"))
        default: break
        }
    }

    private func tellOfMembers(_ delegate: any ChannelDelegate) {
        switch event.type {
        case "participant.entered": delegate.channel(channel, userDidEnter: user)
        case "participant.exited": delegate.channel(channel, userDidExit: user)
        case "member.joined": delegate.channel(channel, userDidJoin: user)
        case "member.left": delegate.channel(channel, userDidLeave: user)
        case "member.invited":
            guard !isCopy else { return }
            delegate.channel(channel, didReceiveInvitation: users("invitees"), inviter: user("inviter"))
        case "member.declined":
            guard let invitee = user("invitee") else { return }
            delegate.channel(channel, didDeclineInvitation: invitee, inviter: user("inviter"))
        case "receipt.delivered": delegate.channelDidUpdateDeliveryReceipt(channel)
        case "receipt.read": delegate.channelDidUpdateReadReceipt(channel)
        case "typing.started", "typing.stopped": delegate.channelDidUpdateTypingStatus(channel)
        default: break
        }
    }

    private func tellOfRestrictions(_ delegate: any ChannelDelegate) {
        switch event.type {
        case "user.muted": delegate.channel(channel, userWasMuted: user)
        case "user.unmuted": delegate.channel(channel, userWasUnmuted: user)
        case "user.banned": delegate.channel(channel, userWasBanned: user)
        case "user.unbanned": delegate.channel(channel, userWasUnbanned: user)
        default: break
        }
    }

    /// True for the second copy of an invitation. An invitation arrives on the channel and on the invited user's own
    /// channel; only one of the two is delivered.
    private var isCopy: Bool { data["channel"]?.text("id").map { $0 != event.channel.name } ?? false }

    /// The current message, or nil when it no longer exists.
    private var message: Message? {
        get async {
            guard let shown = data["message"], let timetoken = shown.timetoken("timetoken") else { return nil }
            // A message that cannot be read now is not shown.
            return try? await chat.channel(shown.text("channel") ?? channel.id).getMessage(timetoken: timetoken)
        }
    }

    private var user: User {
        user("user") ?? User(chat: chat, UserRecord(id: event.user ?? ""))
    }

    private func user(_ name: String) -> User? { data[name].flatMap { User(chat: chat, shown: $0) } }

    private func users(_ name: String) -> [User] {
        guard case .array(let shown) = data[name] else { return [] }
        return shown.compactMap { User(chat: chat, shown: $0) }
    }

    private var channels: [Channel] {
        guard case .array(let counted) = data["channels"] else { return [] }
        return counted.compactMap { channel in
            channel.text("id").map { Channel(chat: chat, id: $0, shown: channel.text) }
        }
    }
}

extension Event {
    /// True when the gateway made the payload. The payload of a message, signal or custom event comes from its sender
    /// and may hold anything.
    fileprivate var isGateways: Bool {
        BuiltInTypes.isReserved(type) && type != BuiltInTypes.messageCreated && type != BuiltInTypes.signalSent
    }
}

extension AnyJSON {
    func texts(_ name: String) -> [String: String] { (self[name]?.members ?? [:]).compactMapValues(\.string) }

    func list(_ name: String) -> [String] {
        if case .array(let values) = self[name] { values.compactMap(\.string) } else { [] }
    }

    func counts(_ name: String) -> [String: Int] {
        (self[name]?.members ?? [:]).compactMapValues { if case .integer(let value) = $0 { Int(value) } else { nil } }
    }
}

extension User {
    /// Creates a user from the fields that an event shows. Returns nil when they are no user.
    init?(chat: Chat, shown: AnyJSON) {
        guard let id = shown.text("id") else { return nil }
        var record = UserRecord(id: id)
        record.name = shown.text("name")
        record.profileURL = shown.text("profile_url")
        self.init(chat: chat, record)
    }
}

extension Channel {
    /// Creates a channel from the fields that an event shows, or from its id only when the event shows none. The id is
    /// always that of the event's envelope.
    init(chat: Chat, id: String, shown: JSONText?) {
        guard let shown, let root = try? JSONDocument(shown).root, var record = ChannelRecord(id: id, root, shown)
        else {
            self.init(chat: chat, id: id)
            return
        }
        record.etag = root["etag"]?.string ?? ""
        record.updated = root["updated_at"]?.string.flatMap { Timestamp.read($0) } ?? .zero
        self.init(chat: chat, record)
    }
}
