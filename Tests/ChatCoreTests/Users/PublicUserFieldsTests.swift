import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("Public fields of users") struct PublicUserFieldsTests {
    private func fill(_ chat: ChatAccess, _ user: String = "ana", email: String = "ana@example.com") async throws {
        var edit = UserEdit()
        edit.name = .set("Ana")
        edit.email = .set(email)
        edit.externalID = .set("4711")
        edit.status = .set("here")
        edit.custom = .set(json(#"{"team":"red"}"#))
        edit.metadata = .set(["lang": "en"])
        _ = try await chat.put(user: user, edit)
    }

    @Test("are the only ones that another user's credential reads; keys and the user read every field")
    func reading() async throws {
        try await withChat { chat in
            try await fill(chat)
            let (ana, eve) = (chat.acting(as: "ana"), chat.acting(as: "eve"))
            for whole in [chat, chat.with([.read]), ana] {
                #expect(try await whole.user("ana")?.email == "ana@example.com")
                #expect(try await whole.users(RecordList(limit: 10)).items.first?.externalID == "4711")
                #expect(try await whole.users(named: ["ana"]).first??.email == "ana@example.com")
            }
            let seen = try #require(try await eve.user("ana"))
            #expect(seen.email == nil && seen.externalID == nil)
            #expect(seen.name == "Ana" && seen.status == "here" && seen.metadata == ["lang": "en"])
            #expect(seen.custom == json(#"{"team":"red"}"#))
            #expect(try await eve.users(RecordList(limit: 10)).items == [seen])
            #expect(try await eve.users(named: ["ana"]) == [seen])
        }
    }

    @Test("are the only ones that another user's credential filters and sorts by")
    func asking() async throws {
        try await withChat { chat in
            try await fill(chat)
            let eve = chat.acting(as: "eve")
            func list(_ filter: String? = nil, sort: [String] = []) -> RecordList {
                var list = RecordList(limit: 10)
                list.filter = filter
                list.sort = sort
                list.wantsTotal = true
                return list
            }
            for filter in ["email LIKE 'ana*'", "external_id == '4711'", "name == 'x' || !(email == null)"] {
                #expect(try await refusal { _ = try await eve.users(list(filter)) }.slug == "bad_filter")
                _ = try await chat.users(list(filter))
            }
            #expect(try await refusal { _ = try await eve.users(list(sort: ["email"])) }.slug == "bad_sort")
            #expect(try await eve.users(list("custom.team == 'red'", sort: ["status"])).total == 1)

            try await chat.service.change(
                chat.app, AppChange(publicUserFields: PublicUserFields([.email])), by: chat.caller)
            #expect(try await eve.users(list("email LIKE 'ana*'")).items.first?.email == "ana@example.com")
            for filter in ["custom.team == 'red'", "metadata.lang == 'en'", "custom[\"team\"] == 'red'"] {
                #expect(try await refusal { _ = try await eve.users(list(filter)) }.slug == "bad_filter")
            }
            let seen = try #require(try await eve.user("ana"))
            #expect(
                seen.email == "ana@example.com" && seen.custom == nil && seen.metadata.isEmpty && seen.status == nil)
        }
    }

    @Test("are the only ones in events; PubNub's readers get the others where no tokens are required")
    func events() async throws {
        try await withChat { chat in
            try await fill(chat)
            try await fill(chat, email: "other@example.com")
            _ = try await chat.delete(user: "ana")
            let events = try await chat.events(on: "ana")
            #expect(events.map(\.type) == ["user.created", "user.updated", "user.deleted"])
            for event in events {
                #expect(!event.data.description.contains("example.com") && !event.data.description.contains("4711"))
                #expect(
                    event.json?["user"]?["email"] == nil && event.json?["user"]?["custom"]?["team"]?.string == "red")
                #expect(event.draft.wire?.description.contains("example.com") == true)
            }
            #expect(events[1].json?["changes"]?.elements?.isEmpty == true)
            try expectValid(events)

            try await chat.service.change(chat.app, AppChange(requiresTokens: true), by: chat.caller)
            try await fill(chat)
            #expect(try await chat.events(on: "ana").last?.draft.wire == nil)
            try await chat.service.change(chat.app, AppChange(publicUserFields: .all), by: chat.caller)
            try await fill(chat, email: "new@example.com")
            let last = try #require(try await chat.events(on: "ana").last)
            #expect(last.json?["user"]?["email"]?.string == "new@example.com" && last.draft.wire == nil)
        }
    }

    @Test("are stored with the app, and are set by its own admins")
    func choosing() async throws {
        try await withChat { chat in
            let chosen = PublicUserFields([.externalID, .type])
            #expect(chosen.names == ["external_id", "type"])
            #expect(PublicUserFields(names: ["type", "external_id"]) == chosen)
            #expect(PublicUserFields(names: ["type", "name"]) == nil)
            try await chat.service.change(chat.app, AppChange(publicUserFields: chosen), by: chat.caller)
            let record = try #require(
                try await chat.service.engine.directory.read(RecordKey(.app, chat.app.name, in: .gateway)))
            #expect(AppRecord(record, chat.service.vault)?.publicUserFields == chosen)
            let stranger = Caller(app: AppID("other"), credential: "key_x", scopes: [.admin], isOperator: true)
            try await expect(.forbidden) {
                try await chat.service.change(chat.app, AppChange(publicUserFields: .all), by: stranger)
            }
        }
    }
}
