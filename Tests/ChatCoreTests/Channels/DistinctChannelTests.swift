import ChatModel
import JSON
import Testing

@testable import ChatCore

extension ChatAccess {
    fileprivate func makeDistinct(
        _ users: [String], by user: String? = "ana", id: String? = nil
    ) async throws -> Written<ChannelView> {
        var new = NewChannel(kind: .group, id: id)
        new.users = users
        new.isDistinct = true
        return try await make(new, by: user)
    }
}

@Suite("Distinct channels") struct DistinctChannelTests {
    @Test("are found by the same users, whoever asks and in whatever order")
    func found() async throws {
        try await withChat { chat in
            let made = try await chat.makeDistinct(["ben", "carl"])
            #expect(made.isNew && made.record.channel.isDistinct && made.record.counts.all == 3)
            let id = made.record.channel.id
            for (users, user) in [
                (["carl", "ben", "ana"], "ana"), (["ana", "carl"], "ben"), (["carl", "ana", "ben"], nil),
            ] {
                let again = try await chat.makeDistinct(users, by: user)
                #expect(!again.isNew && again.record.channel == made.record.channel && again.record.counts.all == 3)
            }
            #expect(try await chat.makeDistinct(["ben"]).record.channel.id != id)
            #expect(try await chat.makeDistinct(["be", "ncarl"]).record.channel.id != id)
            #expect(try await chat.makeChannel("plain", users: ["ben", "carl"]).channel.isDistinct == false)
            #expect(try await chat.acting(as: "ben").makeDistinct(["ana", "carl"], by: nil).record.channel.id == id)
            let events = try await chat.events(on: id)
            #expect(events.count { $0.type == "channel.created" } == 1)
            try expectValid(events)
        }
    }

    @Test("are created once by concurrent requests")
    func races() async throws {
        try await withChat { chat in
            let made = try await withThrowingTaskGroup(of: Written<ChannelView>.self) { group in
                for user in ["ana", "ben"] {
                    for _ in 0..<20 { group.addTask { try await chat.makeDistinct(["ana", "ben"], by: user) } }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(made.map(\.record.channel.id)).count == 1)
            #expect(made.count(where: \.isNew) == 1)
            #expect(try await chat.channels(RecordList(limit: 10)).items.count == 1)
        }
    }

    @Test("are distinct until their members change, which is announced, and can then be created again")
    func membersChange() async throws {
        try await withChat { chat in
            let changes: [(String) async throws -> Void] = [
                { _ = try await chat.invite(["dora"], to: $0, by: "ana") },
                { _ = try await chat.join("dora", to: $0) },
                { try await chat.declineInvite(of: "ben", to: $0, by: "ben") },
                { try await chat.leave("ana", from: $0, by: "ana") },
                { _ = try await chat.put(channel: $0, kind: .public, ChannelEdit()) },
            ]
            for change in changes {
                let made = try await chat.makeDistinct(["ben"])
                #expect(made.isNew)
                let id = made.record.channel.id
                let start = try await chat.now
                try await change(id)
                #expect(try await chat.channelView(id)?.channel.isDistinct == false)
                let updates = try await chat.events(on: id, after: start).filter { $0.type == "channel.updated" }
                try expectValid(updates)
                let told = updates.flatMap { $0.json?["changes"]?.elements ?? [] }.filter {
                    $0["key"]?.string == "distinct"
                }
                #expect(told.count == 1 && told[0]["old"]?.boolean == true && told[0]["new"]?.boolean == false)
            }
            let last = try await chat.makeDistinct(["ben"])
            #expect(last.isNew)
            // A change that leaves the set of members as it is does not affect distinctness.
            let id = last.record.channel.id
            _ = try await chat.acceptInvite(of: "ben", to: id, by: "ben")
            _ = try await chat.appoint("ben", in: id, .operator)
            #expect(try await chat.makeDistinct(["ana"], by: "ben").record.channel.id == id)
        }
    }

    @Test("can be created anew once they are deleted")
    func deleted() async throws {
        try await withChat { chat in
            let first = try await chat.makeDistinct(["ben"]).record.channel.id
            try await chat.delete(channel: first, by: "ana")
            let second = try await chat.makeDistinct(["ben"])
            #expect(second.isNew && second.record.channel.id != first)
            #expect(try await chat.makeDistinct(["ben"]).record.channel.id == second.record.channel.id)
        }
    }

    @Test("take the given id, unless another channel has it")
    func id() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew")
            try await expect(slug: "already_exists") { _ = try await chat.makeDistinct(["ben"], id: "crew") }
            #expect(try await chat.makeDistinct(["ben"], id: "pair").record.channel.id == "pair")
            #expect(try await chat.makeDistinct(["ben"], id: "twin").record.channel.id == "pair")
        }
    }

    @Test("that a credential does not reach are not shown to it")
    func reach() async throws {
        try await withChat { chat in
            _ = try await chat.makeDistinct(["ben"], id: "secret")
            let narrow = chat.service.chat(
                for: Caller(
                    app: chat.app, credential: "key_n", scopes: [.emit, .read], channels: [.below("open.")]))
            try await expect(.forbidden) { _ = try await narrow.makeDistinct(["ben"], id: "open.1") }
        }
    }
}
