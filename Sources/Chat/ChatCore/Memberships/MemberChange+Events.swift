import ChatModel
import JSON

extension MemberChange {
    /// One event for the channel with all who are invited, and one on the channel of each.
    ///
    /// - Parameter isOnWire: whether the wire's subscribers get an invitation; false if the client publishes one itself.
    mutating func announceInvited(_ invitees: [MembershipRecord], onWire isOnWire: Bool = true) {
        guard !invitees.isEmpty else { return }
        add(invited(invitees, on: channel.id, audience: .rule(.members)))
        for invitee in invitees {
            var event = invited([invitee], on: invitee.user, audience: .rule(.user, subjects: [invitee.user]))
            if !isOnWire { event.wire = .null }
            add(event)
        }
        for invitee in invitees where invitee.state == .invited { addWireEvents(of: invitee) }
    }

    private mutating func addWireEvents(of membership: MembershipRecord, isGone: Bool = false) {
        let events = chat.wireEvents(of: membership, isGone: isGone, by: actor.user, at: situation.next)
        for event in events { add(event) }
    }

    /// One event for each who joined.
    mutating func announceJoined(_ joiners: [String]) {
        for joiner in joiners {
            let audience = Audience.rule(.joinedAndSubjects, subjects: [joiner])
            add(
                draft("member.joined", audience) { writer in
                    writer.key("user")
                    user(joiner).printReference(to: &writer)
                    // By their ids alone: a hundred joiners would else be told a hundred times over.
                    writer.key("users")
                    writer.beginArray()
                    for joiner in joiners { UserRecord(id: joiner).printReference(to: &writer) }
                    writer.endArray()
                    writer.member("joined_at", situation.now.milliseconds)
                    printCounts(to: &writer)
                    if let membership = membership(of: joiner) { printFields(of: membership, to: &writer) }
                })
        }
        for joiner in joiners { if let membership = membership(of: joiner) { addWireEvents(of: membership) } }
    }

    mutating func announceLeft(_ membership: MembershipRecord, reason: String) {
        add(
            draft("member.left", .rule(.joinedAndSubjects, subjects: [membership.user])) { writer in
                writer.key("user")
                user(membership.user).printReference(to: &writer)
                writer.member("reason", reason)
                writer.member("left_at", situation.now.milliseconds)
                printCounts(to: &writer)
            })
        addWireEvents(of: membership, isGone: true)
    }

    mutating func announceDeclined(_ membership: MembershipRecord) {
        add(
            draft("member.declined", .rule(.joinedAndSubjects, subjects: [membership.user])) { writer in
                writer.key("invitee")
                print(membership, to: &writer)
                printInviter(membership.inviter, to: &writer)
            })
        addWireEvents(of: membership, isGone: true)
    }

    /// Announces a read mark that moved by `receipt.read`, and other fields by `membership.updated`.
    mutating func announceChanged(_ membership: MembershipRecord, from before: MembershipRecord) {
        if membership.state == .joined, before.read < membership.read {
            var receipt = chat.receipt(.read, membership)
            // A client that writes its mark with the membership publishes a receipt as well.
            receipt.wire = .null
            add(receipt)
        }
        var marked = before
        (marked.read, marked.delivered) = (membership.read, membership.delivered)
        guard marked == membership else { return announceUpdated(membership, from: marked) }
        addWireEvents(of: membership)
    }

    mutating func announceUpdated(_ membership: MembershipRecord, from before: MembershipRecord) {
        add(
            draft("membership.updated", .rule(.members)) { writer in
                writer.member("user_id", membership.user)
                writer.member("channel_id", channel.id)
                printFields(of: membership, to: &writer)
                RecordDifference(from: before.body, to: membership.body).print(to: &writer)
            })
        addWireEvents(of: membership)
    }

    var countsChanged: EventDraft {
        chat.draft(
            "channel.member_count.updated", on: channel.id, by: actor.user, audience: .rule(.channelList)
        ) { writer in
            writer.key("channels")
            writer.beginArray()
            writer.beginObject()
            channel.printReferenceMembers(to: &writer)
            printCounts(to: &writer)
            writer.endObject()
            writer.endArray()
        }
    }

    /// A member as events name it: the user, the state and the role (`$defs/member` of the catalogue).
    func print(_ membership: MembershipRecord, to writer: inout JSONWriter) {
        writer.beginObject()
        user(membership.user).printReferenceMembers(to: &writer)
        writer.member("state", membership.state.rawValue)
        writer.member("role", membership.role.rawValue)
        writer.endObject()
    }

    func printInviter(_ inviter: String?, to writer: inout JSONWriter) {
        guard let inviter else { return writer.nullMember("inviter") }
        writer.key("inviter")
        user(inviter).printReference(to: &writer)
    }

    /// An event on the channel that shows the channel itself.
    private func draft(
        _ type: String, _ audience: Audience, _ print: (inout JSONWriter) -> Void
    ) -> EventDraft {
        chat.draft(type, on: channel.id, by: actor.user, audience: audience) { writer in
            print(&writer)
            printChannel(to: &writer)
        }
    }

    private func invited(_ invitees: [MembershipRecord], on place: String, audience: Audience) -> EventDraft {
        chat.draft("member.invited", on: place, by: actor.user, audience: audience) { writer in
            writer.member("channel_id", channel.id)
            writer.member("channel_type", channel.kind.rawValue)
            if let inviter = actor.user {
                writer.member("invited_by_user_id", inviter)
            } else {
                writer.nullMember("invited_by_user_id")
            }
            writer.member("invitation_timetoken", situation.now.description)
            printInviter(actor.user, to: &writer)
            writer.key("invitees")
            writer.beginArray()
            for invitee in invitees { self.print(invitee, to: &writer) }
            writer.endArray()
            writer.member("invited_at", situation.now.milliseconds)
            printChannel(to: &writer)
        }
    }

    /// What the app keeps with a membership.
    private func printFields(of membership: MembershipRecord, to writer: inout JSONWriter) {
        if let type = membership.type { writer.member("type", type) }
        if let status = membership.status { writer.member("status", status) }
        if let custom = membership.custom { writer.member("custom", custom) }
    }

    private func printCounts(to writer: inout JSONWriter) {
        counts.printMembers(to: &writer)
    }
}
