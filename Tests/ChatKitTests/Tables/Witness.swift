import ChatKit

/// Records the callbacks with their channels: `userDidJoin crew`.
final class Witness: ChannelDelegate, UserEventDelegate, ConnectionDelegate {
    let heard = Heard<String>()

    private func note(_ callback: String, _ channel: Channel) { heard("\(callback) \(channel.id)") }

    /// Returns true at the callback of this name; false when there are no more.
    func meets(_ callback: String) async -> Bool {
        while let next = await heard.next().first { if next == callback { return true } }
        return false
    }

    /// True when a callback arrives before the fence.
    func meetsBeforeFence(_ callback: String) async -> Bool {
        while let next = await heard.next().first, next != "didReceiveMessage fence" {
            if next == callback { return true }
        }
        return false
    }

    func channel(_ channel: Channel, didReceive message: Message) { note("didReceiveMessage", channel) }
    func channel(_ channel: Channel, didUpdate message: Message) { note("didUpdateMessage", channel) }
    func channel(_ channel: Channel, messageWasDeleted timetoken: Timetoken) { note("messageWasDeleted", channel) }
    func channel(_ channel: Channel, didReceiveMention message: Message) { note("didReceiveMention", channel) }
    func channel(_ channel: Channel, updatedReaction event: ReactionEvent) { note("updatedReaction", channel) }
    func channelWasChanged(_ channel: Channel) { note("channelWasChanged", channel) }
    func channelWasDeleted(_ id: String, channelType: ChannelType) { heard("channelWasDeleted \(id) \(channelType)") }
    func channelWasFrozen(_ channel: Channel) { note("channelWasFrozen", channel) }
    func channelWasUnfrozen(_ channel: Channel) { note("channelWasUnfrozen", channel) }
    func channelWasHidden(_ channel: Channel) { note("channelWasHidden", channel) }
    func channel(_ channel: Channel, createdMetaData metaData: [String: String]) {
        note("createdMetaData \(metaData)", channel)
    }
    func channel(_ channel: Channel, updatedMetaData metaData: [String: String]) {
        note("updatedMetaData \(metaData)", channel)
    }
    func channel(_ channel: Channel, deletedMetaDataKeys keys: [String]) {
        note("deletedMetaDataKeys \(keys)", channel)
    }
    func channel(_ channel: Channel, createdMetaCounters counters: [String: Int]) {
        note("createdMetaCounters \(counters)", channel)
    }
    func channel(_ channel: Channel, updatedMetaCounters counters: [String: Int]) {
        note("updatedMetaCounters \(counters)", channel)
    }
    func channel(_ channel: Channel, deletedMetaCountersKeys keys: [String]) {
        note("deletedMetaCountersKeys \(keys)", channel)
    }
    func channel(_ channel: Channel, userDidEnter user: User) { note("userDidEnter \(user.id)", channel) }
    func channel(_ channel: Channel, userDidExit user: User) { note("userDidExit \(user.id)", channel) }
    func channel(_ channel: Channel, userDidJoin user: User) { note("userDidJoin \(user.id)", channel) }
    func channel(_ channel: Channel, userDidLeave user: User) { note("userDidLeave \(user.id)", channel) }
    func channel(_ channel: Channel, userWasMuted user: User) { note("userWasMuted \(user.id)", channel) }
    func channel(_ channel: Channel, userWasUnmuted user: User) { note("userWasUnmuted \(user.id)", channel) }
    func channel(_ channel: Channel, userWasBanned user: User) { note("userWasBanned \(user.id)", channel) }
    func channel(_ channel: Channel, userWasUnbanned user: User) { note("userWasUnbanned \(user.id)", channel) }
    func channel(_ channel: Channel, didReceiveInvitation invitees: [User], inviter: User?) {
        note("didReceiveInvitation \(invitees.map(\.id)) \(inviter?.id ?? "-")", channel)
    }
    func channel(_ channel: Channel, didDeclineInvitation invitee: User, inviter: User?) {
        note("didDeclineInvitation \(invitee.id) \(inviter?.id ?? "-")", channel)
    }
    func channelDidUpdateDeliveryReceipt(_ channel: Channel) { note("channelDidUpdateDeliveryReceipt", channel) }
    func channelDidUpdateReadReceipt(_ channel: Channel) { note("channelDidUpdateReadReceipt", channel) }
    func channelDidUpdateTypingStatus(_ channel: Channel) { note("channelDidUpdateTypingStatus", channel) }
    func channelDidUpdateThreadInfo(_ channel: Channel, event: ThreadEvent) {
        note("channelDidUpdateThreadInfo \(event.replyCount)", channel)
    }
    func channelDidChangeMemberCount(_ channels: [Channel]) {
        heard("channelDidChangeMemberCount \(channels.map(\.id))")
    }
    func channelDidChangeParticipantCount(_ channels: [Channel]) {
        heard("channelDidChangeParticipantCount \(channels.map(\.id))")
    }
    func didUpdateTotalUnreadMessageCount(_ total: Int, totalCountByCustomType: [String: Int]) {
        heard("didUpdateTotalUnreadMessageCount \(total)")
    }
    func didStartReconnection() { heard("didStartReconnection") }
    func didSucceedReconnection() { heard("didSucceedReconnection") }
    func didFailReconnection() { heard("didFailReconnection") }
    func didCancelReconnection() { heard("didCancelReconnection") }
}
