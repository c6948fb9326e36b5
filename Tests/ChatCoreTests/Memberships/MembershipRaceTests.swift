import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("Memberships under contention") struct MembershipRaceTests {
    /// Runs two hundred calls at once. Every user calls twice, so half of the calls come too late.
    private func race(
        _ users: [String], _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            for user in users + users { group.addTask { try await body(user) } }
            try await group.waitForAll()
        }
    }

    @Test("count every join and every leave once, in any order")
    func joinsAndLeaves() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", .public, by: nil)
            let users = (0..<100).map { "user\($0)" }
            try await race(users) { _ = try await chat.acting(as: $0).join($0, to: "crew") }
            #expect(try await chat.counts(of: "crew") == MemberCounts(all: 100, joined: 100))
            #expect(try await chat.memberships(of: "crew").count == 100)
            var events = try await chat.events(on: "crew")
            #expect(events.count { $0.type == "member.joined" } == 100)
            let joined = events.filter { $0.type == "member.joined" }.compactMap {
                $0.json?["joined_member_count"]?.integer
            }
            #expect(joined == Array(1...100))

            try await race(users) { try await chat.acting(as: $0).leave($0, from: "crew") }
            #expect(try await chat.counts(of: "crew") == MemberCounts())
            #expect(try await chat.memberships(of: "crew").isEmpty)
            events = try await chat.events(on: "crew")
            #expect(events.count { $0.type == "member.left" } == 100)
        }
    }

    @Test("agree with the records when joins and leaves of the same users cross")
    func crossing() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", .public, by: nil)
            try await withThrowingTaskGroup { group in
                for index in 0..<200 {
                    let user = "user\(index % 20)"
                    group.addTask {
                        if index % 3 == 0 {
                            try await chat.leave(user, from: "crew")
                        } else {
                            _ = try await chat.join(user, to: "crew")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let members = try await chat.memberships(of: "crew")
            let events = try await chat.events(on: "crew")
            let balance = events.count { $0.type == "member.joined" } - events.count { $0.type == "member.left" }
            #expect(try await chat.counts(of: "crew") == MemberCounts(all: members.count, joined: members.count))
            #expect(balance == members.count)
        }
    }

    @Test("create one direct channel for a pair, however many requests arrive")
    func direct() async throws {
        try await withChat { chat in
            let made = try await withThrowingTaskGroup { group in
                for index in 0..<40 {
                    let (user, other) = index % 2 == 0 ? ("ana", "ben") : ("ben", "ana")
                    group.addTask {
                        var new = NewChannel(kind: .direct)
                        new.users = [other]
                        return try await chat.acting(as: user).make(new)
                    }
                }
                return try await group.reduce(into: [Written<ChannelView>]()) { $0.append($1) }
            }
            #expect(made.count { $0.isNew } == 1)
            #expect(Set(made.map(\.record.channel.id)).count == 1)
            let channel = try #require(made.first?.record.channel)
            #expect(channel.pair == ["ana", "ben"])
            #expect(try await chat.counts(of: channel.id) == MemberCounts(all: 2, joined: 1))
            let refused = try await refusal { _ = try await chat.join("carl", to: channel.id) }
            #expect(refused.slug == "not_of_pair")
        }
    }
}
