public import ChatModel

/// Receives the events in the channels of the chat's user, as the user's device receives them. Every method does
/// nothing by default. The methods are called in the order of the events, one at a time.
public protocol ChannelDelegate: AnyObject, Sendable {
    /// A message was sent.
    func channel(_ channel: Channel, didReceive message: Message)
    /// A message was edited.
    func channel(_ channel: Channel, didUpdate message: Message)
    /// A message was deleted.
    func channel(_ channel: Channel, messageWasDeleted timetoken: Timetoken)
    /// A message mentions the user.
    func channel(_ channel: Channel, didReceiveMention message: Message)
    /// A reaction was added or removed.
    func channel(_ channel: Channel, updatedReaction event: ReactionEvent)
    /// The channel's record changed.
    func channelWasChanged(_ channel: Channel)
    /// The channel's record was deleted.
    func channelWasDeleted(_ id: String, channelType: ChannelType)
    /// The channel was frozen: only its moderators may write.
    func channelWasFrozen(_ channel: Channel)
    /// The channel was unfrozen.
    func channelWasUnfrozen(_ channel: Channel)
    /// The user hid the channel.
    func channelWasHidden(_ channel: Channel)
    /// Texts were added. `metaData` holds the added ones.
    func channel(_ channel: Channel, createdMetaData metaData: [String: String])
    /// Texts were changed. `metaData` holds the changed ones.
    func channel(_ channel: Channel, updatedMetaData metaData: [String: String])
    /// Texts were removed.
    func channel(_ channel: Channel, deletedMetaDataKeys keys: [String])
    /// Counters were added. `counters` holds the added ones.
    func channel(_ channel: Channel, createdMetaCounters counters: [String: Int])
    /// Counters were changed. `counters` holds the changed ones.
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
    /// A user was muted in the channel.
    func channel(_ channel: Channel, userWasMuted user: User)
    /// A user's mute ended.
    func channel(_ channel: Channel, userWasUnmuted user: User)
    /// A user was banned from the channel.
    func channel(_ channel: Channel, userWasBanned user: User)
    /// A user's ban ended.
    func channel(_ channel: Channel, userWasUnbanned user: User)
    /// Users were invited.
    func channel(_ channel: Channel, didReceiveInvitation invitees: [User], inviter: User?)
    /// A user declined an invitation.
    func channel(_ channel: Channel, didDeclineInvitation invitee: User, inviter: User?)
    /// A member's delivery mark moved.
    func channelDidUpdateDeliveryReceipt(_ channel: Channel)
    /// A member's read mark moved.
    func channelDidUpdateReadReceipt(_ channel: Channel)
    /// A user started or stopped typing.
    func channelDidUpdateTypingStatus(_ channel: Channel)
    /// A reply was created or deleted.
    func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent)
    /// The number of members of some channels changed.
    func channelDidChangeMemberCount(_ channels: [Channel])
    /// The number of users in some open channels changed.
    func channelDidChangeParticipantCount(_ channels: [Channel])
}

extension ChannelDelegate {
    public func channel(_ channel: Channel, didReceive message: Message) {}
    public func channel(_ channel: Channel, didUpdate message: Message) {}
    public func channel(_ channel: Channel, messageWasDeleted timetoken: Timetoken) {}
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
    public func channel(_ channel: Channel, userWasMuted user: User) {}
    public func channel(_ channel: Channel, userWasUnmuted user: User) {}
    public func channel(_ channel: Channel, userWasBanned user: User) {}
    public func channel(_ channel: Channel, userWasUnbanned user: User) {}
    public func channel(_ channel: Channel, didReceiveInvitation invitees: [User], inviter: User?) {}
    public func channel(_ channel: Channel, didDeclineInvitation invitee: User, inviter: User?) {}
    public func channelDidUpdateDeliveryReceipt(_ channel: Channel) {}
    public func channelDidUpdateReadReceipt(_ channel: Channel) {}
    public func channelDidUpdateTypingStatus(_ channel: Channel) {}
    public func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent) {}
    public func channelDidChangeMemberCount(_ channels: [Channel]) {}
    public func channelDidChangeParticipantCount(_ channels: [Channel]) {}
}

/// A reaction was added to a message, or removed.
public struct ReactionEvent: Sendable, Equatable {
    public let messageTimetoken: Timetoken
    /// The reaction: a key or an emoji.
    public let key: String
    public let isAdded: Bool
    /// The user who reacted; empty when the event does not name one.
    public let userId: String

    init(_ event: Event, _ data: AnyJSON) {
        messageTimetoken = data["reaction"]?.timetoken("message_timetoken") ?? .zero
        key = data["reaction"]?.text("value") ?? ""
        isAdded = event.type == "reaction.added"
        userId = data["user"]?.text("id") ?? event.user ?? ""
    }
}

/// A reply to a message was created or deleted.
public struct ThreadEvent: Sendable, Equatable {
    /// The message that was replied to.
    public let parentTimetoken: Timetoken
    public let isReplyCreated: Bool
    /// The number of replies after the change.
    public let replyCount: Int

    init(_ data: AnyJSON) {
        parentTimetoken = data.timetoken("thread_of") ?? .zero
        isReplyCreated = data.text("operation") == "reply_created"
        replyCount = data["thread"]?.count("reply_count") ?? 0
    }
}
