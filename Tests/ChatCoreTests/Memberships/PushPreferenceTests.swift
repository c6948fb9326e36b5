import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("Push preferences") struct PushPreferenceTests {
    private func edit(_ push: FieldEdit<PushPreference>, status: String? = nil) -> MembershipEdit {
        var edit = MembershipEdit()
        edit.push = push
        if let status { edit.status = .set(status) }
        return edit
    }

    @Test("are set by the member, and sent to the member only, as a change of the channel")
    func change() async throws {
        try await withChat { chat in
            try await chat.makeChannel(users: ["ben"])
            let ben = chat.acting(as: "ben")
            #expect(try await ben.join("ben", to: "crew").record.push == .all)
            let start = try await chat.now
            #expect(try await ben.update(memberOf: "crew", "ben", edit(.set(.mentions))).push == .mentions)
            let told = try await chat.events(after: start)
            #expect(told.map(\.type) == ["channel.updated"])
            #expect(told[0].audience == .rule(.user, subjects: ["ben"]) && told[0].retention == .passing)
            let change = told[0].json?["changes"]?[0]
            #expect(change?["key"]?.string == "push")
            #expect(change?["old"]?.string == "all" && change?["new"]?.string == "mentions")
            #expect(told[0].json?["channel"]?["id"]?.string == "crew")

            let next = try await chat.now
            _ = try await ben.update(memberOf: "crew", "ben", edit(.clear, status: "away"))
            let both = try await chat.events(after: next)
            #expect(both.map(\.type) == ["membership.updated", "channel.updated"])
            #expect(both[0].json?["changes"]?.elements?.map { $0["key"]?.string } == ["status"])
            #expect(both[0].json?["membership"]?["push"] == nil)
            #expect(try await chat.membership("ben")?.push == .all)
        }
    }

    @Test("are set by the member and by programs with manage, and never by an operator")
    func rights() async throws {
        try await withChat { chat in
            try await chat.makeChannel(users: ["ben"])
            let (ana, ben) = (chat.acting(as: "ana"), chat.acting(as: "ben"))
            _ = try await ben.join("ben", to: "crew", edit(.set(.never)))
            try await expect(slug: "not_self") {
                _ = try await ana.update(memberOf: "crew", "ben", edit(.set(.all)))
            }
            try await expect(slug: "not_self") { _ = try await ana.update(memberOf: "crew", "ben", edit(.clear)) }
            try await expect(slug: "not_self") { _ = try await ana.join("ben", to: "crew", edit(.set(.all))) }
            #expect(try await ana.update(memberOf: "crew", "ben", edit(.set(.never), status: "x")).status == "x")
            #expect(try await ana.join("ben", to: "crew", edit(.clear)).record.push == .never)
            #expect(try await ben.join("ben", to: "crew", edit(.clear)).record.push == .all)
            #expect(try await chat.update(memberOf: "crew", "ben", edit(.set(.mentions))).push == .mentions)
        }
    }
}
