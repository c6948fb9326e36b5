import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("Memberships") struct MembershipTests {
    @Test("begin by joining a public channel, once, and are counted")
    func join() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", .public)
            let start = try await chat.now
            let first = try await chat.acting(as: "ben").join("ben", to: "crew")
            let second = try await chat.acting(as: "ben").join("ben", to: "crew")
            #expect(first.isNew)
            #expect(!second.isNew)
            #expect(second.record == first.record)
            #expect(first.record.state == .joined)
            #expect(try await chat.counts(of: "crew") == MemberCounts(all: 2, joined: 2))
            let events = try await chat.events(on: "crew", after: start)
            #expect(events.map(\.type) == ["member.joined", "channel.member_count.updated"])
            #expect(events.allSatisfy { $0.draft.cause == "req_1" && $0.draft.user == "ben" })
            #expect(events[0].draft.audience == .rule(.joinedAndSubjects, subjects: ["ben"]))
            #expect(events[0].json?["member_count"]?.integer == 2)
            #expect(first.record.updated == events[0].timetoken)
            try expectValid(events)
        }
    }

    @Test("of a group need an invitation, or an operator who lets the user in")
    func group() async throws {
        try await withChat { chat in
            try await chat.makeChannel()
            let refused = try await refusal { _ = try await chat.acting(as: "ben").join("ben", to: "crew") }
            #expect(refused.slug == "not_invited")
            let others = try await refusal { _ = try await chat.acting(as: "ben").join("carl", to: "crew") }
            #expect(others.slug == "not_operator")
            #expect(try await chat.acting(as: "ana").join("ben", to: "crew").record.state == .joined)
            #expect(try await chat.join("carl", to: "crew").record.state == .joined)
        }
    }

    @Test("begin with an invitation, sent to the channel and the invited user, and end when it is accepted or declined")
    func invitation() async throws {
        try await withChat { chat in
            try await chat.makeChannel()
            var start = try await chat.now
            let invited = try await chat.acting(as: "ana").invite(["ben", "carl", "ben"], to: "crew")
            #expect(invited.map(\.user) == ["ben", "carl"])
            #expect(invited.allSatisfy { $0.state == .invited && $0.inviter == "ana" && $0.joined == .zero })
            #expect(try await chat.counts(of: "crew") == MemberCounts(all: 3, joined: 1))
            var events = try await chat.events(after: start)
            #expect(events.map(\.channel.name) == ["crew", "ben", "carl", "crew"])
            #expect(
                events.map(\.type) == [
                    "member.invited", "member.invited", "member.invited", "channel.member_count.updated",
                ])
            #expect(events[1].draft.audience == .rule(.user, subjects: ["ben"]))
            try expectValid(events)

            start = try await chat.now
            #expect(try await chat.acting(as: "ben").acceptInvite(of: "ben", to: "crew").state == .joined)
            try await chat.acting(as: "carl").declineInvite(of: "carl", to: "crew")
            events = try await chat.events(after: start)
            #expect(
                events.map(\.type) == [
                    "member.joined", "channel.member_count.updated", "member.declined", "channel.member_count.updated",
                ])
            try expectValid(events)
            #expect(try await chat.counts(of: "crew") == MemberCounts(all: 2, joined: 2))
            #expect(try await chat.membership("carl") == nil)
            try await expect(.notFound) { _ = try await chat.acting(as: "carl").acceptInvite(of: "carl", to: "crew") }
            try await expect(.conflict) { try await chat.acting(as: "ben").declineInvite(of: "ben", to: "crew") }
        }
    }

    @Test("begin at once where the user accepts invitations automatically")
    func autoAccept() async throws {
        try await withChat { chat in
            try await chat.makeChannel()
            var ben = UserRecord(id: "ben")
            ben.autoAcceptsInvites = true
            _ = try await chat.directory.write([RecordChange(UserRecord.key("ben", in: chat.app), body: ben.body)])
            let start = try await chat.now
            let invited = try await chat.acting(as: "ana").invite(["ben", "carl"], to: "crew")
            #expect(invited.map(\.state) == [.joined, .invited])
            let events = try await chat.events(on: "crew", after: start)
            #expect(events.map(\.type) == ["member.invited", "member.joined", "channel.member_count.updated"])
            try expectValid(events)
            #expect(try await chat.counts(of: "crew") == MemberCounts(all: 3, joined: 2))
        }
    }

    @Test("end by leaving or by an operator's removal, and the operator's rights with them")
    func leave() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", .public)
            for user in ["ben", "carl"] { _ = try await chat.acting(as: user).join(user, to: "crew") }
            try await expect(.forbidden) { try await chat.acting(as: "ben").leave("carl", from: "crew") }
            let start = try await chat.now
            try await chat.acting(as: "ben").leave("ben", from: "crew")
            try await chat.acting(as: "ben").leave("ben", from: "crew")
            try await chat.acting(as: "ana").leave("carl", from: "crew", reason: "spam")
            try await chat.leave("ana", from: "crew")
            let events = try await chat.events(on: "crew", after: start)
            let left = events.filter { $0.type == "member.left" }
            #expect(left.map { $0.json?["reason"]?.string } == ["LEFT_BY_OWN_CHOICE", "spam", "ADMIN_REMOVED"])
            #expect(events.last?.type == "channel.updated")
            #expect(
                events.dropLast().map(\.type) == left.flatMap { _ in ["member.left", "channel.member_count.updated"] })
            try expectValid(events)
            #expect(try await chat.counts(of: "crew") == MemberCounts())
            #expect(try await chat.channelView("crew")?.channel.operators == [])
        }
    }

    @Test("are refused to the banned, until the ban is over")
    func banned() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", .public)
            var ban = RestrictionRecord(user: "ben", channel: "crew", isBanned: true, isMuted: false)
            let key = RestrictionRecord.key("ben", "crew", in: chat.app)
            _ = try await chat.directory.write([RecordChange(key, body: ban.body, parent: "crew")])
            let refused = try await refusal { _ = try await chat.join("ben", to: "crew") }
            #expect(refused.slug == "banned")
            let invited = try await refusal { _ = try await chat.invite(["carl", "ben"], to: "crew") }
            #expect(invited.slug == "banned")
            #expect(try await chat.membership("carl") == nil)
            ban.until = 1
            _ = try await chat.directory.write([RecordChange(key, body: ban.body, parent: "crew")])
            _ = try await chat.join("ben", to: "crew")
        }
    }

    @Test("do not exist in open channels, nor in channels without a record")
    func without() async throws {
        try await withChat { chat in
            try await chat.makeChannel("lobby", .open)
            let refused = try await refusal { _ = try await chat.join("ben", to: "lobby") }
            #expect(refused.code == .invalid)
            #expect(refused.slug == "no_members")
            try await expect(.notFound) { _ = try await chat.join("ben", to: "nowhere") }
            try await expect(.malformed) { _ = try await chat.join("ben", to: "$system") }
        }
    }

    @Test("are changed by the member, their role by an operator, and stay unchanged when nothing differs")
    func update() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", .public)
            _ = try await chat.acting(as: "ben").join("ben", to: "crew")
            let start = try await chat.now
            var edit = MembershipEdit()
            edit.status = .set("away")
            edit.custom = .set(json(#"{"starred":10.50}"#))
            let after = try await chat.acting(as: "ben").update(memberOf: "crew", "ben", edit)
            #expect(after.custom == json(#"{"starred":10.50}"#))
            let again = try await chat.acting(as: "ben").update(memberOf: "crew", "ben", edit)
            #expect(again.etag == after.etag)
            edit = MembershipEdit()
            edit.role = .operator
            try await expect(.forbidden) { _ = try await chat.acting(as: "ben").update(memberOf: "crew", "ben", edit) }
            try await expect(.stale) {
                _ = try await chat.acting(as: "ana").update(memberOf: "crew", "ben", edit, precondition: "x")
            }
            let promoted = try await chat.acting(as: "ana").update(
                memberOf: "crew", "ben", edit, precondition: after.etag)
            #expect(promoted.role == .operator)
            #expect(promoted.status == "away")
            #expect(try await chat.channelView("crew")?.channel.operators == ["ana", "ben"])
            let events = try await chat.events(on: "crew", after: start)
            #expect(events.map(\.type) == ["membership.updated", "membership.updated", "channel.updated"])
            try expectValid(events)
        }
    }

    @Test("can be hidden from the member's own list and shown again, in events for the member only")
    func hide() async throws {
        try await withChat { chat in
            try await chat.makeChannel()
            let start = try await chat.now
            try await expect(.forbidden) { _ = try await chat.acting(as: "ben").hide("crew", for: "ana") }
            let hidden = try await chat.acting(as: "ana").hide("crew", for: "ana", hidesHistory: true)
            _ = try await chat.acting(as: "ana").hide("crew", for: "ana", hidesHistory: true)
            #expect(hidden.hiding?.hidesHistory == true)
            let shown = try await chat.acting(as: "ana").unhide("crew", for: "ana")
            #expect(shown.hiding == nil)
            let events = try await chat.events(on: "crew", after: start)
            #expect(events.map(\.type) == ["channel.hidden", "channel.updated"])
            #expect(events.allSatisfy { $0.draft.audience == .rule(.user, subjects: ["ana"]) })
            #expect(events.allSatisfy { $0.retention == .passing })
            try expectValid([events[0]])
        }
    }
}
