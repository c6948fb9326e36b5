import ChatModel
import JSON

extension MemberChange {
    /// Adds one event on the channel, which lists all invited users, and one event on each invited user's own channel.
    ///
    /// - Parameter isOnWire: true to send the invitation to PubNub clients; false when the inviting client publishes
    ///   the event itself.
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
        let events = chat.wireEvents(of: membership, isGone: isGone, by: actor.user, at: snapshot.next)
        for event in events { add(event) }
    }

    /// Adds an event for each user who joined. Every event lists all users who joined in the same step.
    mutating func announceJoined(_ joiners: [String]) {
        for joiner in joiners {
            let audience = Audience.rule(.joinedAndSubjects, subjects: [joiner])
            add(
                draft("member.joined", audience) { writer in
                    writer.key("user")
                    user(joiner).printReference(to: &writer)
                    // The list contains only ids. With full records, the events of 100 joining users would contain each
                    // record 100 times.
                    writer.key("users")
                    writer.beginArray()
                    for joiner in joiners { UserRecord(id: joiner).printReference(to: &writer) }
                    writer.endArray()
                    printCounts(to: &writer)
                    if let membership = membership(of: joiner) { printMembership(stamped(membership), to: &writer) }
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
                printCounts(to: &writer)
                printMembership(membership, to: &writer)
            })
        addWireEvents(of: membership, isGone: true)
    }

    mutating func announceDeclined(_ membership: MembershipRecord) {
        add(
            draft("member.declined", .rule(.joinedAndSubjects, subjects: [membership.user])) { writer in
                writer.key("invitee")
                user(membership.user).printReference(to: &writer)
                printInviter(membership.inviter, to: &writer)
                printMembership(membership, to: &writer)
            })
        addWireEvents(of: membership, isGone: true)
    }

    /// Announces a moved read mark with `receipt.read`, and other changed fields with `membership.updated`.
    mutating func announceChanged(_ membership: MembershipRecord, from before: MembershipRecord) {
        if membership.state == .joined, before.read < membership.read {
            var receipt = chat.receipt(.read, membership, behind: nil, snapshot)
            // A client that moves its mark by writing the membership also publishes a receipt to PubNub clients itself.
            receipt.wire = .null
            add(receipt)
        }
        var marked = before
        (marked.read, marked.delivered) = (membership.read, membership.delivered)
        guard marked == membership else { return announceUpdated(membership, from: marked) }
        addWireEvents(of: membership)
    }

    /// Announces a changed push preference to the member only, and changes of other fields to all members.
    mutating func announceUpdated(_ membership: MembershipRecord, from before: MembershipRecord) {
        var shared = before
        shared.push = membership.push
        if shared != membership { announceShared(membership, from: shared) }
        guard before.push != membership.push else { return }
        announceOwnChange(
            "push", of: membership.user, from: JSONText(string: before.push.rawValue),
            to: JSONText(string: membership.push.rawValue))
    }

    private mutating func announceShared(_ membership: MembershipRecord, from before: MembershipRecord) {
        add(
            draft("membership.updated", .rule(.members)) { writer in
                writer.key("user")
                user(membership.user).printReference(to: &writer)
                printMembership(stamped(membership), to: &writer)
                RecordDifference(from: before.body, to: membership.body).print(to: &writer)
            })
        addWireEvents(of: membership)
    }

    /// Announces a change that only one member may see. The event is not stored in the history.
    mutating func announceOwnChange(_ name: StaticString, of user: String, from old: JSONText, to new: JSONText) {
        var event = draft("channel.updated", .rule(.user, subjects: [user])) { writer in
            writer.key("changes")
            writer.beginArray()
            writer.beginObject()
            writer.member("key", name.description)
            writer.member("old", old)
            writer.member("new", new)
            writer.endObject()
            writer.endArray()
        }
        event.retention = .passing
        add(event)
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

    /// Returns the membership with the version and the time that the commit will give it.
    func stamped(_ membership: MembershipRecord) -> MembershipRecord {
        var membership = membership
        (membership.etag, membership.updated) = (snapshot.etag, snapshot.next)
        return membership
    }

    private func printMembership(_ membership: MembershipRecord, to writer: inout JSONWriter) {
        writer.key("membership")
        membership.showToMembers(to: &writer)
    }

    /// Prints two JSON members with arrays: `name` with the users of the memberships, and `memberships` with the
    /// memberships as they are after this change.
    func print(_ name: StaticString, _ memberships: [MembershipRecord], to writer: inout JSONWriter) {
        writer.key(name)
        writer.beginArray()
        for membership in memberships { user(membership.user).printReference(to: &writer) }
        writer.endArray()
        writer.key("memberships")
        writer.beginArray()
        for membership in memberships { stamped(membership).showToMembers(to: &writer) }
        writer.endArray()
    }

    func printInviter(_ inviter: String?, to writer: inout JSONWriter) {
        guard let inviter else { return writer.nullMember("inviter") }
        writer.key("inviter")
        user(inviter).printReference(to: &writer)
    }

    /// Creates an event on the channel. The event's data also contains the channel.
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
            printInviter(actor.user, to: &writer)
            self.print("invitees", invitees, to: &writer)
            printChannel(to: &writer)
        }
    }

    private func printCounts(to writer: inout JSONWriter) {
        counts.printMembers(to: &writer)
    }
}
