import ChatModel
import JSON

/// Translates one event into calls of a ``ChannelDelegate``.
struct DelegateEvent: Sendable {
    let chat: Chat
    let event: Event
    let data: AnyJSON
    /// The objects that the gateway included with the event.
    let included: IncludedObjects?
    let channel: Channel

    init(_ chat: Chat, _ received: LiveEvent) {
        self.chat = chat
        event = received.event
        data = AnyJSON(event.data)
        included = received.included
        // The channel in the payload has the state after the event. The included channel is read later, when the event
        // is sent.
        let shown = event.isGateways ? event.data.rawMember("channel") : nil
        channel =
            shown.map { [event] in Channel(chat: chat, id: event.channel.name, shown: $0) } ?? included?.channel
            ?? chat.channel(event.channel.name)
    }

    func notify(_ delegate: any ChannelDelegate) async {
        switch event.type.prefix(while: { $0 != "." }) {
        case "message", "user", "reaction", "thread": await notifyOfMessages(delegate)
        case "channel": notifyOfRecord(delegate)
        default: notifyOfMembers(delegate)
        }
    }

    private func notifyOfMessages(_ delegate: any ChannelDelegate) async {
        switch event.type {
        case "message.created": delegate.channel(channel, didReceive: received)
        case "message.updated":
            if var message = await message {
                message.oldValues = data.oldValues
                delegate.channel(channel, didUpdate: message)
            }
        case "message.deleted":
            if let message = await message {
                delegate.channel(channel, didDelete: message)
            } else {
                delegate.channel(channel, messageWasDeleted: data["message"]?.timetoken("timetoken") ?? .zero)
            }
        case "user.mentioned":
            if let message = await message {
                let place = Channel(chat: chat, id: message.channelId, shown: event.data.rawMember("channel"))
                delegate.channel(place, didReceiveMention: message)
            }
        case "reaction.added", "reaction.removed":
            delegate.channel(channel, updatedReaction: reaction)
        case "thread.updated": delegate.channelDidUpdateThreadInfo(channel, event: thread)
        default: notifyOfRestrictions(delegate)
        }
    }

    private func notifyOfRecord(_ delegate: any ChannelDelegate) {
        switch event.type {
        case "channel.updated": delegate.channelWasChanged(channel)
        case BuiltInTypes.channelActivity: delegate.channelWasChanged(active)
        case "channel.deleted": delegate.channelWasDeleted(channel.id, channelType: channel.type)
        case "channel.frozen": delegate.channelWasFrozen(channel)
        case "channel.unfrozen": delegate.channelWasUnfrozen(channel)
        case "channel.hidden": delegate.channelWasHidden(channel)
        case "channel.member_count.updated": delegate.channelDidChangeMemberCount(channels)
        case "channel.participant_count.updated": delegate.channelDidChangeParticipantCount(channels)
        default: notifyOfValues(delegate)
        }
    }

    private func notifyOfValues(_ delegate: any ChannelDelegate) {
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

    private func notifyOfMembers(_ delegate: any ChannelDelegate) {
        switch event.type {
        case "participant.entered": delegate.channel(channel, userDidEnter: user)
        case "participant.exited": delegate.channel(channel, userDidExit: user)
        case "member.joined": delegate.channel(channel, userDidJoin: user)
        case "member.left": delegate.channel(channel, userDidLeave: user, reason: data.text("reason") ?? "")
        case "member.invited":
            guard !isCopy else { return }
            delegate.channel(channel, didReceiveInvitation: users("invitees"), inviter: user("inviter"))
        case "member.declined":
            guard let invitee = user("invitee") else { return }
            delegate.channel(channel, didDeclineInvitation: invitee, inviter: user("inviter"))
        case "receipt.delivered":
            delegate.channel(
                channel, didUpdateDeliveryReceipt: receipt("delivered_timetoken", "undelivered_member_count"))
        case "receipt.read":
            delegate.channel(channel, didUpdateReadReceipt: receipt("read_timetoken", "unread_member_count"))
        case "typing.started", "typing.stopped":
            delegate.channel(channel, didUpdateTypingUsers: users("typing_users"))
        default: break
        }
    }

    private func notifyOfRestrictions(_ delegate: any ChannelDelegate) {
        switch event.type {
        case "user.muted": delegate.channel(channel, userWasMuted: user, restriction: Restriction(event, data))
        case "user.unmuted": delegate.channel(channel, userWasUnmuted: user)
        case "user.banned": delegate.channel(channel, userWasBanned: user, restriction: Restriction(event, data))
        case "user.unbanned": delegate.channel(channel, userWasUnbanned: user)
        default: break
        }
    }

    /// An invitation causes two events: one on the channel that the user is invited to, and one on the invited user's
    /// own channel. True for the second event. The delegate is called only for the first event.
    private var isCopy: Bool { data["channel"]?.text("id").map { $0 != event.channel.name } ?? false }

    /// The message that the event is about. If the event contains only a reference to the message, the message is read
    /// now. Nil when the message cannot be read.
    private var message: Message? {
        get async {
            guard let shown = data["message"], let timetoken = shown.timetoken("timetoken") else { return nil }
            if shown["etag"] != nil, let text = event.data.rawMember("message"), let state = MessageState(text) {
                return withSender(state)
            }
            // A message that cannot be read now is left out.
            return try? await chat.channel(shown.text("channel") ?? channel.id).getMessage(timetoken: timetoken)
        }
    }

    /// The sent message that the event contains, with its sender.
    private var received: Message { withSender(MessageState(event)) }

    private func withSender(_ state: MessageState) -> Message {
        var message = Message(chat: chat, state)
        message.sender = state.user.map { user(id: $0) }
        return message
    }

    private var reaction: ReactionEvent {
        let reaction = data["reaction"] ?? .null
        return ReactionEvent(
            messageTimetoken: reaction.timetoken("message_timetoken") ?? .zero, key: reaction.text("value") ?? "",
            isAdded: event.type == "reaction.added", user: user, count: data.count("reaction_count"))
    }

    private var thread: ThreadEvent {
        let thread = data["thread"] ?? .null
        return ThreadEvent(
            parentTimetoken: data.timetoken("thread_of") ?? .zero, replyTimetoken: data.timetoken("message_timetoken"),
            isReplyCreated: data.text("operation") == "reply_created", replyCount: thread.count("reply_count"),
            lastReplyTimetoken: thread.timetoken("last_reply_timetoken"), mostReplies: users("most_replies"))
    }

    private func receipt(_ mark: String, _ count: String) -> ReceiptEvent {
        ReceiptEvent(
            user: user, timetoken: data.timetoken(mark) ?? .zero,
            missingMemberCount: data[count] == nil ? nil : data.count(count))
    }

    /// The channel whose last message or number of unread messages the event reports, with the reported value. An event
    /// that reports a number of unread messages is on the user's own channel, and its data names the reported channel.
    private var active: Channel {
        let id = data["channel"]?.text("id") ?? channel.id
        let shown = event.data.rawMember("channel")
        // When the event reports a number of unread messages, the included channel is the user's own channel.
        let whole = id == event.channel.name ? included?.channel : nil
        var active = whole ?? Channel(chat: chat, id: id, shown: shown)
        active.lastMessage = event.data.rawMember("last_message").flatMap { MessageState($0) }.map { withSender($0) }
        if data["unread_count"] != nil { active.unreadMessageCount = data.count("unread_count") }
        return active
    }

    private var user: User { user("user") ?? user(id: event.user ?? "") }

    private func user(_ name: String) -> User? { data[name].flatMap { user($0) } }

    private func users(_ name: String) -> [User] {
        guard case .array(let shown) = data[name] else { return [] }
        return shown.compactMap { user($0) }
    }

    /// Returns the user that `shown`, a part of the event's data, describes. The user has all fields of the record if
    /// the event includes the record. Returns nil when `shown` contains no user id.
    private func user(_ shown: AnyJSON) -> User? {
        guard let id = shown.text("id") else { return nil }
        return recorded(id) ?? User(chat: chat, shown: shown)
    }

    private func user(id: String) -> User { recorded(id) ?? User(chat: chat, UserRecord(id: id)) }

    /// The user's record, if the event includes it; otherwise nil.
    private func recorded(_ id: String) -> User? {
        guard event.user == id, let user = included?.user, user.id == id else { return nil }
        return user
    }

    private var channels: [Channel] {
        guard case .array(let counted) = data["channels"] else { return [] }
        return counted.compactMap { shown in
            guard let id = shown.text("id") else { return nil }
            var channel = Channel(chat: chat, id: id, shown: shown.text)
            if shown["participant_count"] != nil { channel.participantCount = shown.count("participant_count") }
            return channel
        }
    }
}

extension Event {
    /// True when the gateway created the payload. False for a message, a signal or a custom event, whose sender can
    /// choose any payload.
    fileprivate var isGateways: Bool {
        BuiltInTypes.isReserved(type) && type != BuiltInTypes.messageCreated && type != BuiltInTypes.signalSent
    }
}

extension AnyJSON {
    /// The values before a change, by the name of the field.
    fileprivate var oldValues: [String: AnyJSON] {
        guard case .array(let changes) = self["changes"] else { return [:] }
        let values = changes.compactMap { change in
            change.text("key").flatMap { key in change["old"].map { (key, $0) } }
        }
        return Dictionary(values, uniquingKeysWith: { $1 })
    }

    func texts(_ name: String) -> [String: String] { (self[name]?.members ?? [:]).compactMapValues(\.string) }

    func list(_ name: String) -> [String] {
        if case .array(let values) = self[name] { values.compactMap(\.string) } else { [] }
    }

    func counts(_ name: String) -> [String: Int] {
        (self[name]?.members ?? [:]).compactMapValues { if case .integer(let value) = $0 { Int(value) } else { nil } }
    }
}

extension User {
    /// Creates a user from the fields in an event. Returns nil when they do not describe a user.
    init?(chat: Chat, shown: AnyJSON) {
        guard let id = shown.text("id") else { return nil }
        var record = UserRecord(id: id)
        record.name = shown.text("name")
        record.profileURL = shown.text("profile_url")
        self.init(chat: chat, record)
    }
}

extension Channel {
    /// Creates a channel from fields of its record that an event contains.
    ///
    /// - Parameters:
    ///   - id: the id of the channel. An id among the fields is ignored.
    ///   - shown: the fields as a JSON object. When nil or unreadable, the channel has only its id.
    init(chat: Chat, id: String, shown: JSONText?) {
        guard let shown, let root = try? JSONDocument(shown).root, var record = ChannelRecord(id: id, root, shown)
        else {
            self.init(chat: chat, id: id)
            return
        }
        record.etag = root["etag"]?.string ?? ""
        record.updated = root["updated_at"]?.string.flatMap { Timestamp.read($0) } ?? .zero
        self.init(
            chat: chat,
            ChannelState(
                record, memberCount: root["member_count"]?.integer.map { Int($0) },
                joinedMemberCount: root["joined_member_count"]?.integer.map { Int($0) }))
    }
}
