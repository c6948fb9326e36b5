public import ChatModel
import JSON

extension ChatAccess {
    /// Hides a channel from a member's own channel list. The user remains a member.
    ///
    /// - Parameters:
    ///   - hidesHistory: true to hide the messages sent before this call, even after the channel is shown again.
    ///   - endsWithMessage: true to show the channel again when the next message arrives.
    /// - Throws: `.forbidden` when the caller does not act for the user; `.notFound` when the user is not a member;
    ///   `.invalid` with the slug `no_members` for an open channel.
    public func hide(
        _ channel: String, for user: String, hidesHistory: Bool = false, endsWithMessage: Bool = true,
        by named: String? = nil
    ) async throws(ChatError) -> MembershipRecord {
        try await changeMember(user, of: channel, by: named) { change throws(ChatError) in
            var membership = try change.ownMembership(of: user)
            let hiding = membership.hiding
            guard hiding?.hidesHistory != hidesHistory || hiding?.endsWithMessage != endsWithMessage else { return }
            membership.hiding = MembershipRecord.Hiding(
                since: change.snapshot.now, hidesHistory: hidesHistory, endsWithMessage: endsWithMessage)
            change.put(membership)
            change.announceHidden(membership)
        }.record
    }

    /// Shows a hidden channel in the member's list again.
    ///
    /// - Throws: the errors of ``hide(_:for:hidesHistory:endsWithMessage:by:)``.
    public func unhide(
        _ channel: String, for user: String, by named: String? = nil
    ) async throws(ChatError) -> MembershipRecord {
        try await changeMember(user, of: channel, by: named) { change throws(ChatError) in
            var membership = try change.ownMembership(of: user)
            guard membership.hiding != nil else { return }
            membership.hiding = nil
            change.put(membership)
            change.announceOwnChange(
                "hidden", of: user, from: JSONText { $0.boolean(true) }, to: JSONText { $0.boolean(false) })
        }.record
    }
}

extension MemberChange {
    fileprivate mutating func announceHidden(_ membership: MembershipRecord) {
        add(
            chat.draft(
                "channel.hidden", on: channel.id, by: actor.user,
                audience: .rule(.user, subjects: [membership.user])
            ) { writer in
                writer.key("user")
                user(membership.user).printReference(to: &writer)
                writer.key("membership")
                stamped(membership).show(to: &writer)
                printChannel(to: &writer)
            })
    }
}
