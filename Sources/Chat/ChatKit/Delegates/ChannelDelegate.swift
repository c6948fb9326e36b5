public import ChatModel

/// Receives the events that a device of the chat's user receives: the events in the user's channels. The methods are
/// called one at a time, in the order of the events.
///
/// For some events there are two methods. The longer method has an additional value: the receipt, the typing users, the
/// restriction, the reason or the deleted message. Implement one of the two; by default, the longer method calls the
/// shorter one. All other methods do nothing by default.
///
/// The channels and users contain those fields of their records that the chat's user may see.
public protocol ChannelDelegate: AnyObject, Sendable {
    /// A message was sent. Its `sender` is set.
    func channel(_ channel: Channel, didReceive message: Message)
    /// A message was edited. Its `oldValues` contain the replaced content.
    func channel(_ channel: Channel, didUpdate message: Message)
    /// A message was deleted.
    func channel(_ channel: Channel, messageWasDeleted timetoken: Timetoken)
    /// A message was deleted. The message is marked as deleted and has no content. Its `sender` is set.
    func channel(_ channel: Channel, didDelete message: Message)
    /// A message mentions the user.
    func channel(_ channel: Channel, didReceiveMention message: Message)
    /// A reaction was added or removed.
    func channel(_ channel: Channel, updatedReaction event: ReactionEvent)
    /// The channel changed: its record, the user's push preference, the last message or the number of unread messages.
    /// When the last message changed, `lastMessage` is set; when the number changed, `unreadMessageCount` is set. Each
    /// of these two changes is reported at most once per second. The numbers of unread messages are also reported when
    /// the delegate is added.
    func channelWasChanged(_ channel: Channel)
    /// The channel's record was deleted.
    func channelWasDeleted(_ id: String, channelType: ChannelType)
    /// The channel was frozen: only its moderators may write.
    func channelWasFrozen(_ channel: Channel)
    /// The channel was unfrozen.
    func channelWasUnfrozen(_ channel: Channel)
    /// The user hid the channel.
    func channelWasHidden(_ channel: Channel)
    /// Metadata was added. `metaData` contains the added keys.
    func channel(_ channel: Channel, createdMetaData metaData: [String: String])
    /// Metadata was changed. `metaData` contains the changed keys.
    func channel(_ channel: Channel, updatedMetaData metaData: [String: String])
    /// Metadata was removed.
    func channel(_ channel: Channel, deletedMetaDataKeys keys: [String])
    /// Counters were added. `counters` contains the added counters.
    func channel(_ channel: Channel, createdMetaCounters counters: [String: Int])
    /// Counters were changed. `counters` contains the changed counters.
    func channel(_ channel: Channel, updatedMetaCounters counters: [String: Int])
    /// Counters were removed.
    func channel(_ channel: Channel, deletedMetaCountersKeys keys: [String])
    /// A user entered an open channel.
    func channel(_ channel: Channel, userDidEnter user: User)
    /// A user left an open channel.
    func channel(_ channel: Channel, userDidExit user: User)
    /// A user became a member.
    func channel(_ channel: Channel, userDidJoin user: User)
    /// A user's membership ended.
    func channel(_ channel: Channel, userDidLeave user: User)
    /// A user's membership ended.
    ///
    /// - Parameter reason: `LEFT_BY_OWN_CHOICE`, `CHANNEL_OPERATOR_REMOVED`, `ADMIN_REMOVED` or the moderator's reason.
    func channel(_ channel: Channel, userDidLeave user: User, reason: String)
    /// A user was muted in the channel.
    func channel(_ channel: Channel, userWasMuted user: User)
    /// A user was muted in the channel.
    func channel(_ channel: Channel, userWasMuted user: User, restriction: Restriction)
    /// A user's mute ended.
    func channel(_ channel: Channel, userWasUnmuted user: User)
    /// A user was banned from the channel.
    func channel(_ channel: Channel, userWasBanned user: User)
    /// A user was banned from the channel.
    func channel(_ channel: Channel, userWasBanned user: User, restriction: Restriction)
    /// A user's ban ended.
    func channel(_ channel: Channel, userWasUnbanned user: User)
    /// Users were invited.
    func channel(_ channel: Channel, didReceiveInvitation invitees: [User], inviter: User?)
    /// A user declined an invitation.
    func channel(_ channel: Channel, didDeclineInvitation invitee: User, inviter: User?)
    /// A device of a member has received newer messages of the channel.
    func channelDidUpdateDeliveryReceipt(_ channel: Channel)
    /// A device of a member has received newer messages of the channel. `receipt` names the member and the newest
    /// message.
    func channel(_ channel: Channel, didUpdateDeliveryReceipt receipt: ReceiptEvent)
    /// A member has read newer messages of the channel.
    func channelDidUpdateReadReceipt(_ channel: Channel)
    /// A member has read newer messages of the channel. `receipt` names the member and the newest message.
    func channel(_ channel: Channel, didUpdateReadReceipt receipt: ReceiptEvent)
    /// A user started or stopped typing.
    func channelDidUpdateTypingStatus(_ channel: Channel)
    /// A user started or stopped typing.
    ///
    /// - Parameter users: the users who are typing now, at most 20.
    func channel(_ channel: Channel, didUpdateTypingUsers users: [User])
    /// A reply was created or deleted.
    func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent)
    /// The numbers of members of some channels changed. The channels contain the new `memberCount` and
    /// `joinedMemberCount`.
    func channelDidChangeMemberCount(_ channels: [Channel])
    /// The numbers of users in some open channels changed. The channels contain the new `participantCount`.
    func channelDidChangeParticipantCount(_ channels: [Channel])
}

extension ChannelDelegate {
    public func channel(_ channel: Channel, didReceive message: Message) {}
    public func channel(_ channel: Channel, didUpdate message: Message) {}
    public func channel(_ channel: Channel, messageWasDeleted timetoken: Timetoken) {}
    public func channel(_ channel: Channel, didDelete message: Message) {
        self.channel(channel, messageWasDeleted: message.timetoken)
    }
    public func channel(_ channel: Channel, didReceiveMention message: Message) {}
    public func channel(_ channel: Channel, updatedReaction event: ReactionEvent) {}
    public func channelWasChanged(_ channel: Channel) {}
    public func channelWasDeleted(_ id: String, channelType: ChannelType) {}
    public func channelWasFrozen(_ channel: Channel) {}
    public func channelWasUnfrozen(_ channel: Channel) {}
    public func channelWasHidden(_ channel: Channel) {}
    public func channel(_ channel: Channel, createdMetaData metaData: [String: String]) {}
    public func channel(_ channel: Channel, updatedMetaData metaData: [String: String]) {}
    public func channel(_ channel: Channel, deletedMetaDataKeys keys: [String]) {}
    public func channel(_ channel: Channel, createdMetaCounters counters: [String: Int]) {}
    public func channel(_ channel: Channel, updatedMetaCounters counters: [String: Int]) {}
    public func channel(_ channel: Channel, deletedMetaCountersKeys keys: [String]) {}
    public func channel(_ channel: Channel, userDidEnter user: User) {}
    public func channel(_ channel: Channel, userDidExit user: User) {}
    public func channel(_ channel: Channel, userDidJoin user: User) {}
    public func channel(_ channel: Channel, userDidLeave user: User) {}
    public func channel(_ channel: Channel, userDidLeave user: User, reason: String) {
        self.channel(channel, userDidLeave: user)
    }
    public func channel(_ channel: Channel, userWasMuted user: User) {}
    public func channel(_ channel: Channel, userWasMuted user: User, restriction: Restriction) {
        self.channel(channel, userWasMuted: user)
    }
    public func channel(_ channel: Channel, userWasUnmuted user: User) {}
    public func channel(_ channel: Channel, userWasBanned user: User) {}
    public func channel(_ channel: Channel, userWasBanned user: User, restriction: Restriction) {
        self.channel(channel, userWasBanned: user)
    }
    public func channel(_ channel: Channel, userWasUnbanned user: User) {}
    public func channel(_ channel: Channel, didReceiveInvitation invitees: [User], inviter: User?) {}
    public func channel(_ channel: Channel, didDeclineInvitation invitee: User, inviter: User?) {}
    public func channelDidUpdateDeliveryReceipt(_ channel: Channel) {}
    public func channel(_ channel: Channel, didUpdateDeliveryReceipt receipt: ReceiptEvent) {
        channelDidUpdateDeliveryReceipt(channel)
    }
    public func channelDidUpdateReadReceipt(_ channel: Channel) {}
    public func channel(_ channel: Channel, didUpdateReadReceipt receipt: ReceiptEvent) {
        channelDidUpdateReadReceipt(channel)
    }
    public func channelDidUpdateTypingStatus(_ channel: Channel) {}
    public func channel(_ channel: Channel, didUpdateTypingUsers users: [User]) {
        channelDidUpdateTypingStatus(channel)
    }
    public func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent) {}
    public func channelDidChangeMemberCount(_ channels: [Channel]) {}
    public func channelDidChangeParticipantCount(_ channels: [Channel]) {}
}
