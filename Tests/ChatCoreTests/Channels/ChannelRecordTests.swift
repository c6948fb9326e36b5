import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("Channel records") struct ChannelRecordTests {
    private func named(_ name: String) -> ChannelEdit {
        var edit = ChannelEdit()
        edit.name = .set(name)
        return edit
    }

    @Test("are created with their first members, in ordered events with one cause")
    func make() async throws {
        try await withChat { chat in
            var new = NewChannel(kind: .group, id: "crew")
            new.edit = named("Crew")
            new.users = ["ben", "ana", "carl"]
            let made = try await chat.acting(as: "ana").make(new)
            #expect(made.isNew)
            #expect(made.record.channel.operators == ["ana"])
            #expect(made.record.channel.createdBy == "ana")
            #expect(made.record.counts == MemberCounts(all: 3, joined: 1))
            #expect(try await chat.membership("ana")?.role == .operator)
            #expect(try await chat.membership("ben")?.state == .invited)
            let events = try await chat.events()
            #expect(
                events.map { "\($0.channel.name) \($0.type)" } == [
                    "crew channel.created", "crew member.joined", "crew member.invited", "ben member.invited",
                    "carl member.invited", "crew channel.member_count.updated",
                ])
            #expect(Set(events.map(\.draft.cause)) == ["req_1"])
            #expect(events[0].json?["members"]?.count == 3)
            #expect(events[0].draft.audience == .rule(.user, subjects: ["ana", "ben", "carl"]))
            try expectValid(events)
            try await expect(.conflict) { _ = try await chat.acting(as: "ben").make(new) }
        }
    }

    @Test("that a program creates without a user have joined members and no operator")
    func makeByProgram() async throws {
        try await withChat { chat in
            let view = try await chat.makeChannel("crew", .public, users: ["ana", "ben"], by: nil)
            #expect(view.counts == MemberCounts(all: 2, joined: 2))
            #expect(view.channel.operators.isEmpty)
            let generated = try await chat.make(NewChannel(kind: .open))
            #expect(generated.record.channel.id.hasPrefix("ch_"))
        }
    }

    @Test("of kind direct are for two users, and the same for both")
    func direct() async throws {
        try await withChat { chat in
            var new = NewChannel(kind: .direct)
            new.users = ["ben"]
            let made = try await chat.acting(as: "ana").make(new)
            new.users = ["ana", "ben"]
            let again = try await chat.make(new)
            #expect(made.isNew)
            #expect(!again.isNew)
            #expect(again.record.channel == made.record.channel)
            new.users = ["an", "aben"]
            #expect(try await chat.make(new).record.channel.id != made.record.channel.id)
            for users in [["ana"], ["ana", "ana"], ["ana", "ben", "carl"], []] {
                new.users = users
                try await expect(.malformed) {
                    _ = try await chat.acting(as: "ana").make(new)
                }
            }
            new.users = ["ben", "carl"]
            try await expect(slug: "not_of_pair") { _ = try await chat.acting(as: "ana").make(new) }
        }
    }

    @Test("are changed and replaced by operators, with what changed")
    func change() async throws {
        try await withChat { chat in
            let ana = chat.acting(as: "ana")
            let made = try await ana.put(channel: "crew", kind: .group, named("Crew"))
            #expect(made.isNew)
            let start = try await chat.now
            var edit = ChannelEdit()
            edit.description = .set("Where we meet")
            edit.data = .set(json("[1.50]"))
            let patched = try await ana.update(channel: "crew", edit, precondition: .etag(made.record.channel.etag))
            #expect(patched.channel.name == "Crew")
            #expect(patched.channel.data == json("[1.50]"))
            #expect(try await ana.update(channel: "crew", edit).channel.etag == patched.channel.etag)
            let replaced = try await ana.put(channel: "crew", kind: .public, named("The crew"))
            #expect(replaced.record.channel.description == nil)
            #expect(replaced.record.channel.operators == ["ana"])
            let events = try await chat.events(on: "crew", after: start)
            #expect(events.map(\.type) == ["channel.updated", "channel.updated"])
            #expect(events[0].draft.audience == .rule(.members))
            let keys = events[1].json?["changes"]?.elements?.compactMap { $0["key"]?.string } ?? []
            #expect(Set(keys) == ["kind", "name", "description", "data"])
            try expectValid(events)

            try await expect(slug: "kind_fixed") { _ = try await ana.put(channel: "crew", kind: .open, edit) }
            try await expect(.forbidden) { _ = try await chat.acting(as: "ben").update(channel: "crew", edit) }
            try await expect(.stale) { _ = try await ana.update(channel: "crew", edit, precondition: .etag("x")) }
            try await expect(.notFound) { _ = try await ana.update(channel: "nowhere", edit) }
            try await expect(.conflict) {
                _ = try await ana.put(channel: "crew", kind: .group, edit, precondition: .absent)
            }
        }
    }

    @Test("of private channels are seen by users who are members or invited, and by programs")
    func returnedFields() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", .group, users: ["ben"])
            try await chat.makeChannel("square", .public)
            let list = RecordList(limit: 10)
            for user in ["ana", "ben"] {
                #expect(try await chat.acting(as: user).channelView("crew") != nil)
                #expect(try await chat.acting(as: user).channels(list).items.count == 2)
            }
            let carl = chat.acting(as: "carl")
            try await expect(slug: "not_a_member") { _ = try await carl.channelView("crew") }
            try await expect(slug: "not_a_member") { _ = try await carl.members(of: "crew", list) }
            try await expect(slug: "not_a_member") { _ = try await carl.member("ana", of: "crew") }
            #expect(try await carl.channels(list).items.map(\.channel.id) == ["square"])
            #expect(try await carl.members(of: "square", list).items.count == 1)
            #expect(try await chat.with([.read]).members(of: "crew", list).items.count == 2)
        }
    }

    @Test("that a user may not see affect no page of that user: not its length, its cursor or its total")
    func hiddenInPages() async throws {
        try await withChat { chat in
            for id in ["b-secret", "c-secret", "d-secret"] { try await chat.makeChannel(id) }
            for id in ["a", "e"] { try await chat.makeChannel(id, .public) }
            try await chat.makeChannel("f-own", users: ["eve"])
            let eve = chat.acting(as: "eve")
            func page(_ filter: String? = nil, limit: Int, of access: ChatAccess) async throws -> Page<ChannelView> {
                var list = RecordList(limit: limit)
                list.filter = filter
                list.wantsTotal = true
                return try await access.channels(list)
            }
            let first = try await page(limit: 2, of: eve)
            #expect(first.items.map(\.channel.id) == ["a", "e"] && first.hasMore && first.total == 3)
            #expect(first.cursor?.contains("secret") == false)
            let guess = try await page("kind == 'group'", limit: 1, of: eve)
            #expect(guess.items.map(\.channel.id) == ["f-own"] && !guess.hasMore && guess.total == 1)
            #expect(try await page(limit: 10, of: chat).total == 6)

            let narrow = chat.service.chat(
                for: Caller(
                    app: chat.app, credential: "key_n", scopes: [.read], channels: [.exact("a"), .below("f.")]))
            let reached = try await page(limit: 1, of: narrow)
            #expect(reached.items.map(\.channel.id) == ["a"] && !reached.hasMore && reached.total == nil)
        }
    }

    @Test("show operators, members and other users, within limits")
    func operators() async throws {
        var limits = Limits()
        limits.operatorsPerChannel = 3
        try await withChat(limits: limits) { chat in
            try await chat.makeChannel("crew", .public, users: ["ben"])
            let start = try await chat.now
            let ana = chat.acting(as: "ana")
            #expect(try await ana.appoint("ben", in: "crew", .operator).channel.operators == ["ana", "ben"])
            #expect(try await ana.appoint("zoe", in: "crew", .operator).channel.operators == ["ana", "ben", "zoe"])
            #expect(try await chat.membership("ben")?.role == .operator)
            #expect(try await chat.membership("zoe") == nil)
            let over = try await refusal { _ = try await ana.appoint("max", in: "crew", .operator) }
            #expect(over.slug == "too_many_operators")
            let carl = chat.acting(as: "carl")
            try await expect(.forbidden) { _ = try await carl.appoint("carl", in: "crew", .operator) }
            #expect(try await chat.acting(as: "zoe").join("zoe", to: "crew").record.role == .operator)
            #expect(try await ana.appoint("ben", in: "crew", .member).channel.operators == ["ana", "zoe"])
            #expect(try await chat.membership("ben")?.role == .member)
            let events = try await chat.events(on: "crew", after: start)
            let operators = events.filter { $0.type == "channel.updated" }
            #expect(operators.count == 3)
            #expect(operators.allSatisfy { $0.json?["changes"]?[0]?["key"]?.string == "operators" })
            try expectValid(events)
            try await chat.makeChannel("lobby", .open)
            #expect(try await ana.appoint("ben", in: "lobby", .operator).channel.operators == ["ana", "ben"])
            #expect(try await chat.events(on: "lobby").last?.draft.audience == .rule(.participants))
        }
    }

    @Test("are deleted with all their data, and leave nothing to a later channel of that name")
    func delete() async throws {
        var limits = Limits()
        limits.pageMost = 3
        try await withChat(limits: limits) { chat in
            try await chat.makeChannel("crew", .public, users: (0..<7).map { "user\($0)" })
            let ban = RestrictionRecord(user: "mallory", channel: "crew", isBanned: true, isMuted: false)
            let counters = chat.key(.channelCounters, "crew")
            _ = try await chat.directory.write([
                RecordChange(RestrictionRecord.key("mallory", "crew", in: chat.app), body: ban.body, parent: "crew"),
                RecordChange(counters, body: .emptyObject),
            ])
            try await expect(.forbidden) { try await chat.acting(as: "user1").delete(channel: "crew") }
            let start = try await chat.now
            #expect(try await chat.acting(as: "ana").delete(channel: "crew"))
            #expect(try await chat.acting(as: "ana").delete(channel: "crew") == false)
            let events = try await chat.events(on: "crew", after: start)
            #expect(events.map(\.type) == ["channel.deleted"])
            #expect(events[0].json?["channel"]?["member_count"]?.integer == 8)
            try expectValid(events)
            #expect(await chat.service.sweepDeleted())
            #expect(try await chat.memberships(of: "crew").isEmpty)
            #expect(try await chat.directory.read(RestrictionRecord.key("mallory", "crew", in: chat.app)) == nil)
            #expect(try await chat.directory.read(counters) == nil)

            let view = try await chat.makeChannel("crew", .public)
            #expect(view.counts == MemberCounts(all: 1, joined: 1))
            #expect(try await chat.memberships(of: "crew").map(\.user) == ["ana"])
        }
    }

    @Test("are created by programs only where messages exist or the channel belongs to another user")
    func claiming() async throws {
        try await withChat { chat in
            try await chat.say("hello", in: "square", by: "ben")
            _ = try await chat.put(user: "ben", UserEdit())
            let keyed = chat.with([.emit, .read])
            for name in ["square", "ben"] {
                try await expect(slug: "name_in_use") { try await chat.acting(as: "ana").makeChannel(name, by: nil) }
                try await expect(slug: "name_in_use") { try await keyed.makeChannel(name, .public) }
                try await expect(slug: "name_in_use") {
                    _ = try await chat.acting(as: "ana").put(channel: name, kind: .open, ChannelEdit())
                }
                try await chat.makeChannel(name, .public)
            }
            try await chat.acting(as: "ana").makeChannel("crew", by: nil)
            // Deleting a channel leaves the messages of its previous life, which the next owner must not read.
            try await chat.acting(as: "ana").delete(channel: "crew")
            try await expect(slug: "name_in_use") { try await chat.acting(as: "eve").makeChannel("crew", by: nil) }
        }
    }
}
