public import ChatModel

/// Receives the events in the channels of the chat's user, as the user's device receives them. Every method does
/// nothing by default. The methods are called in the order of the events, one at a time.
public protocol ChannelDelegate: AnyObject, Sendable {
    func channel(_ channel: Channel, didReceive message: Message)
    func channel(_ channel: Channel, didUpdate message: Message)
    func channel(_ channel: Channel, messageWasDeleted timetoken: Timetoken)
    func channel(_ channel: Channel, didReceiveMention message: Message)
    func channel(_ channel: Channel, updatedReaction event: ReactionEvent)
    func channelWasChanged(_ channel: Channel)
    func channelWasDeleted(_ id: String, channelType: ChannelType)
    func channelWasFrozen(_ channel: Channel)
    func channelWasUnfrozen(_ channel: Channel)
    func channelWasHidden(_ channel: Channel)
    func channel(_ channel: Channel, createdMetaData metaData: [String: String])
    func channel(_ channel: Channel, updatedMetaData metaData: [String: String])
    func channel(_ channel: Channel, deletedMetaDataKeys keys: [String])
    func channel(_ channel: Channel, createdMetaCounters counters: [String: Int])
    func channel(_ channel: Channel, updatedMetaCounters counters: [String: Int])
    func channel(_ channel: Channel, deletedMetaCountersKeys keys: [String])
    func channel(_ channel: Channel, userDidEnter user: User)
    func channel(_ channel: Channel, userDidExit user: User)
    func channel(_ channel: Channel, userDidJoin user: User)
    func channel(_ channel: Channel, userDidLeave user: User)
    func channel(_ channel: Channel, userWasMuted user: User)
    func channel(_ channel: Channel, userWasUnmuted user: User)
    func channel(_ channel: Channel, userWasBanned user: User)
    func channel(_ channel: Channel, userWasUnbanned user: User)
    func channel(_ channel: Channel, didReceiveInvitation invitees: [User], inviter: User?)
    func channel(_ channel: Channel, didDeclineInvitation invitee: User, inviter: User?)
    func channelDidUpdateDeliveryReceipt(_ channel: Channel)
    func channelDidUpdateReadReceipt(_ channel: Channel)
    func channelDidUpdateTypingStatus(_ channel: Channel)
    func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent)
    func channelDidChangeMemberCount(_ channels: [Channel])
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
