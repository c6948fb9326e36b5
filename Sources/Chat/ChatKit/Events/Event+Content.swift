public import ChatModel

extension Event {
    /// What the event says. Whatever has no struct of its own is a ``CustomEvent`` with the event's type: what a newer
    /// gateway tells must not make a history unreadable.
    public var content: any EventContent {
        let data = AnyJSON(data)
        return switch type {
        case "message.created": TextMessageContent(data)
        case "typing.started", "typing.stopped": Typing(self, data)
        case "report.created": Report(data)
        case "user.mentioned": Mention(self, data)
        case "receipt.read": ReadReceipt(self, data)
        case "member.invited": Invite(self, data)
        case "user.banned", "user.unbanned", "user.muted", "user.unmuted": Restriction(self, data)
        default: CustomEvent(self)
        }
    }

    func wrapped<Content: Sendable>(_ content: Content) -> EventWrapper<Content> {
        EventWrapper(
            event: ContentEvent(timetoken: timetoken, userId: user ?? "", channelId: channel.name, payload: content))
    }
}
