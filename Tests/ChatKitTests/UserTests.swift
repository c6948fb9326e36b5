import ChatKit
import Testing

@Suite("Users") struct UserTests {
    @Test("are made, read, changed, listed and deleted", arguments: MatchStrategy.allCases)
    func life(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.createUser(
                id: "ben", name: "Ben", profileUrl: "https://example.com/ben.png", custom: ["floor": 3])
            #expect(ben.custom["floor"]?.rawValue as? Int64 == 3)
            let changed = try await ben.update(name: "Benjamin", status: "away")
            #expect(changed.name == "Benjamin")
            #expect(changed.profileUrl == "https://example.com/ben.png")
            #expect(changed.eTag != ben.eTag)
            #expect(try await chat.getUser(userId: "ben")?.status == "away")
            #expect(try await chat.getUsers().users.map(\.id) == ["ana", "ben"])
            try await changed.delete()
            #expect(try await chat.getUser(userId: "ben") == nil)
        }
    }

    @Test("are unique: a second one with the same id is refused", arguments: MatchStrategy.allCases)
    func twice(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            _ = try await chat.createUser(id: "ben")
            let error = await #expect(throws: ChatError.self) { _ = try await chat.createUser(id: "ben") }
            #expect(error?.code == .conflict)
        }
    }

    @Test("have a record from the beginning of their chat", arguments: MatchStrategy.allCases)
    func current(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            #expect(chat.currentUser.id == "ana")
            let stored = try await chat.getUser(userId: "ana")
            #expect(stored?.eTag == chat.currentUser.eTag)
            let ben = try await chat.acting(as: "ben")
            #expect(ben.currentUser.id == "ben")
        }
    }

    @Test("call their listeners for every change", arguments: MatchStrategy.allCases)
    func listeners(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let ben = try await chat.createUser(id: "ben")
            let heard = Heard<String>()
            let listeners = [
                ben.onUpdated { heard("updated \($0.name ?? "-")") }, ben.onDeleted { heard("deleted") },
            ]
            for listener in listeners { try await listener.ready() }
            _ = try await ben.update(name: "Ben")
            #expect(await heard.next() == ["updated Ben"])
            try await ben.delete()
            #expect(await heard.next() == ["deleted"])
        }
    }
}
