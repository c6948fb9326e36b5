import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("User records") struct UserTests {
    private func edit(_ change: (inout UserEdit) -> Void) -> UserEdit {
        var edit = UserEdit()
        change(&edit)
        return edit
    }

    @Test("are written, like all of the chat, within the channels and types of the credential")
    func reach() async throws {
        try await withChat { chat in
            func key(_ channels: [NamePattern], _ types: [NamePattern]) -> ChatAccess {
                chat.service.chat(
                    for: Caller(
                        app: chat.app, credential: "key_narrow", scopes: [.emit, .manage], channels: channels,
                        types: types))
            }
            let name = edit { $0.name = .set("Ana") }
            let elsewhere = key([.below("team.")], [.all])
            try await expect(.forbidden) { _ = try await elsewhere.put(user: "ana", name) }
            #expect(try await elsewhere.put(user: "team.ana", name).isNew)
            let other = key([.all], [.below("order.")])
            try await expect(.forbidden) { _ = try await other.put(user: "ana", name) }
            try await expect(.forbidden) { try await other.startTyping("ana", on: "room") }
            #expect(try await chat.user("ana") == nil)
        }
    }

    @Test("are created, changed by field, replaced and deleted, each in an event on the user's own channel")
    func life() async throws {
        try await withChat { chat in
            let ana = chat.acting(as: "ana")
            let made = try await ana.put(
                user: "ana",
                edit {
                    $0.name = .set("Ana")
                    $0.email = .set("ana@example.com")
                    $0.custom = .set(json(#"{"rate":1.50}"#))
                    $0.metadata = .set(["lang": "en"])
                })
            #expect(made.isNew)
            let patched = try await ana.update(
                user: "ana",
                edit {
                    $0.email = .clear
                    $0.autoAcceptsInvites = .set(true)
                })
            #expect(patched.name == "Ana")
            #expect(patched.email == nil)
            #expect(patched.custom == json(#"{"rate":1.50}"#))
            #expect(patched.created == made.record.created)
            let replaced = try await ana.put(user: "ana", edit { $0.name = .set("Anna") })
            #expect(!replaced.isNew)
            #expect(replaced.record.metadata == [:])
            #expect(replaced.record.created == made.record.created)
            #expect(try await ana.user("ana") == replaced.record)
            #expect(try await ana.delete(user: "ana"))
            #expect(try await ana.delete(user: "ana") == false)
            #expect(try await ana.user("ana") == nil)

            let events = try await chat.events(on: "ana")
            #expect(events.map(\.type) == ["user.created", "user.updated", "user.updated", "user.deleted"])
            #expect(events.allSatisfy { $0.draft.audience == .subscribers && $0.draft.user == "ana" })
            let changes = events[1].json?["changes"]?.elements?.map { $0["key"]?.string }
            // The address is private, so no event contains it.
            #expect(changes == ["auto_accepts_invites"])
            try expectValid(events)
        }
    }

    @Test("stay as they are, without an event, when nothing differs")
    func same() async throws {
        try await withChat { chat in
            let first = try await chat.put(user: "ana", edit { $0.name = .set("Ana") })
            let second = try await chat.put(user: "ana", edit { $0.name = .set("Ana") })
            #expect(second.record == first.record)
            #expect(try await chat.events(on: "ana").count == 1)
        }
    }

    @Test("are written at the demanded version only")
    func versions() async throws {
        try await withChat { chat in
            let first = try await chat.put(user: "ana", edit { $0.name = .set("Ana") })
            _ = try await chat.update(
                user: "ana", edit { $0.status = .set("away") }, precondition: .etag(first.record.etag))
            try await expect(.stale) {
                _ = try await chat.update(
                    user: "ana", edit { $0.name = .set("A") }, precondition: .etag(first.record.etag))
            }
            try await expect(.stale) { try await chat.delete(user: "ana", precondition: .etag(first.record.etag)) }
            try await expect(.conflict) { _ = try await chat.put(user: "ana", UserEdit(), precondition: .absent) }
            try await expect(.notFound) { _ = try await chat.update(user: "ben", edit { $0.name = .set("B") }) }
            #expect(try await chat.user("ana")?.name == "Ana")
        }
    }

    @Test("are written only by their user and by programs that manage the app")
    func rights() async throws {
        try await withChat { chat in
            let error = try await refusal { _ = try await chat.acting(as: "ben").put(user: "ana", UserEdit()) }
            #expect(error.slug == "not_self")
            let named = try await refusal { _ = try await chat.with([.emit]).put(user: "ana", UserEdit(), by: "ben") }
            #expect(named.slug == "not_self")
            _ = try await chat.with([.emit]).put(user: "ana", UserEdit(), by: "ana")
            _ = try await chat.with([.manage]).put(user: "ben", UserEdit())
            try await expect(.forbidden) { _ = try await chat.with([.emit]).user("ana") }
        }
    }

    @Test("have bounded fields, and an object for 'custom'")
    func bounds() async throws {
        try await withChat { chat in
            let long = String(repeating: "x", count: chat.limits.recordTextLength + 1)
            try await expect(.malformed) { _ = try await chat.put(user: "ana", edit { $0.name = .set(long) }) }
            try await expect(.malformed) { _ = try await chat.put(user: "ana", edit { $0.custom = .set(json("7")) }) }
            let large = json("{\"a\":\"\(String(repeating: "x", count: chat.limits.recordValueBytes))\"}")
            try await expect(.tooLarge) { _ = try await chat.put(user: "ana", edit { $0.custom = .set(large) }) }
            try await expect(.tooLarge) {
                let texts = [String(repeating: "k", count: chat.limits.recordValueBytes): "v"]
                _ = try await chat.put(user: "ana", edit { $0.metadata = .set(texts) })
            }
        }
    }

    @Test("can block others, which only their own devices receive")
    func blocks() async throws {
        try await withChat { chat in
            let ana = chat.acting(as: "ana")
            #expect(try await ana.block("mallory", for: "ana").isNew)
            #expect(try await ana.block("mallory", for: "ana").isNew == false)
            _ = try await ana.block("eve", for: "ana")
            #expect(try await ana.blocks(of: "ana", RecordList(limit: 10)).items.map(\.blocked) == ["eve", "mallory"])
            try await ana.unblock("mallory", for: "ana")
            try await ana.unblock("mallory", for: "ana")
            #expect(try await ana.blocks(of: "ana", RecordList(limit: 10)).items.map(\.blocked) == ["eve"])
            try await expect(.invalid) { _ = try await ana.block("ana", for: "ana") }
            try await expect(.forbidden) { _ = try await chat.acting(as: "eve").block("ben", for: "ana") }
            try await expect(.forbidden) {
                _ = try await chat.acting(as: "eve").blocks(of: "ana", RecordList(limit: 10))
            }
            let events = try await chat.events(on: "ana")
            #expect(events.map(\.type) == ["user.blocked", "user.blocked", "user.unblocked"])
            #expect(events.allSatisfy { $0.draft.audience == .rule(.user, subjects: ["ana"]) })
            #expect(events[0].json?["block"]?["blocked"]?.string == "mallory")
            try expectValid(events)
        }
    }
}
