import ChatModel
import JSON

extension ChatAccess {
    /// The events that show subscribers of PubNub's wire a whole membership after a change: one on its channel, one on its
    /// user's. Native readers get the event that names the change.
    ///
    /// - Parameters:
    ///   - isGone: whether the membership has ended.
    ///   - version: the place of the change, which is the record's `updated`.
    func wireEvents(
        of membership: MembershipRecord, isGone: Bool = false, by user: String?, at version: Timetoken
    ) -> [EventDraft] {
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("version", version.description)
            writer.key("membership")
            writer.beginObject()
            membership.printMembers(to: &writer)
            writer.endObject()
            writer.endObject()
        }
        var places = [membership.channel]
        if ExactText(membership.channel) != ExactText(membership.user) { places.append(membership.user) }
        return places.map { place in
            var draft = EventDraft(
                channel: channel(place), type: isGone ? BuiltInTypes.membershipRemoved : BuiltInTypes.membershipSet,
                kind: .recordChange, retention: .passing, data: data, user: user)
            draft.audience = .wire
            return draft
        }
    }
}
