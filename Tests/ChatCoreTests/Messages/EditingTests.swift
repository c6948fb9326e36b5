import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("Editing and deleting a message", .timeLimit(.minutes(2))) struct EditingTests {
    @Test("changes the text that is read, and announces it")
    func edit() async throws {
        try await withChat { chat in
            let data = json(#"{"text":"helo","files":[{"name":"a.png"}],"n":1.50}"#)
            let sent = try await chat.emit(.message(channel: "room", data: data, user: "ana", meta: nil)).event
                .timetoken
            let ana = chat.of("ana", device: "phone")
            let edited = try await ana.edit(sent, in: "room", to: .text(json(#""hello""#)), by: nil)
            let read = try await ana.message(sent, in: "room")
            #expect(read.data == json(#"{"text":"hello","files":[{"name":"a.png"}],"n":1.50}"#))
            #expect(read.record.edit?.by == "ana" && read.etag == edited.etag && read.etag != "0")
            #expect(read.event.data == data, "the event never changes")
            let told = try await chat.told()
            #expect(told.map(\.type) == ["message.updated"])
            #expect(told[0].value?["message"]?["data"]?["text"]?.string == "hello")
            #expect(told[0].timetoken == read.record.edit?.at)
            #expect(told[0].draft.originDevice == "phone" && told[0].draft.cause == nil && told[0].user == "ana")
            _ = try await ana.edit(sent, in: "room", to: .data(json("[1]")), by: nil)
            #expect(try await ana.message(sent, in: "room").data == json("[1]"))
        }
    }

    @Test("to the content that it has changes nothing and announces nothing")
    func sameContent() async throws {
        try await withChat { chat in
            let data = json(#"{"files":[1.50],"text":"caf\u00e9"}"#)
            let sent = try await chat.emit(.message(channel: "room", data: data, user: "ana", meta: nil)).event
                .timetoken
            let same: [MessageContent] = [
                .text(json(#""caf\u00e9""#)), .text(JSONText(string: "caf\u{e9}")),
                .data(json(#"{ "files": [1.50], "text": "caf\u00e9" }"#)),
            ]
            for content in same {
                let unchanged = try await chat.edit(sent, in: "room", to: content, by: "ben")
                #expect(unchanged.etag == "0" && unchanged.record.edit == nil)
            }
            let edited = try await chat.edit(sent, in: "room", to: .text(json(#""cafe""#)), by: "ana")
            let again = try await chat.edit(
                sent, in: "room", to: .text(json(#""cafe""#)), by: "ben", ifMatch: edited.etag)
            #expect(again.etag == edited.etag && again.record == edited.record)
            try await expect(.stale) {
                _ = try await chat.edit(sent, in: "room", to: .text(json(#""cafe""#)), by: "ana", ifMatch: "0")
            }
            #expect(try await chat.told().map(\.type) == ["message.updated"])
            for other in [json(#"{"files":[1.5],"text":"cafe"}"#), json(#""cafe""#)] {
                #expect(try await chat.edit(sent, in: "room", to: .data(other), by: "ana").data == other)
            }
        }
    }

    @Test("is allowed to its author and to moderators of the channel")
    func rights() async throws {
        try await withChat { chat in
            try await chat.make("room", .group, operators: ["mod"])
            try await chat.join("ana", "ben", "mod")
            let sent = try await chat.say("one", by: "ana")
            try await expect(.forbidden) {
                _ = try await chat.of("ben").edit(sent, in: "room", to: .data(json("1")), by: nil)
            }
            try await expect(.forbidden) { try await chat.of("ben").delete(sent, in: "room", isHard: false, by: nil) }
            #expect(try await chat.told().isEmpty)
            _ = try await chat.of("mod").edit(sent, in: "room", to: .data(json("1")), by: nil)
            _ = try await chat.edit(sent, in: "room", to: .data(json("2")), by: nil)
            try await chat.of("mod").delete(sent, in: "room", isHard: false, by: nil)
            #expect(try await chat.told().map(\.user) == ["mod", nil, "mod"])
            #expect(try await chat.told()[0].audience == .rule(.joinedButOrigin))
            #expect(try await chat.told()[2].audience == .rule(.joined))
        }
    }

    @Test("is refused at another version than required, and at one of another message")
    func versions() async throws {
        try await withChat { chat in
            let sent = try await chat.say("one", by: "ana")
            let edited = try await chat.edit(sent, in: "room", to: .data(json("1")), by: nil, ifMatch: "0")
            try await expect(.stale) {
                _ = try await chat.edit(sent, in: "room", to: .data(json("2")), by: nil, ifMatch: "0")
            }
            try await expect(.stale) { try await chat.delete(sent, in: "room", isHard: true, by: nil, ifMatch: "0") }
            try await chat.delete(sent, in: "room", isHard: true, by: nil, ifMatch: edited.etag)
        }
    }

    @Test("finds no message that is on another channel, ephemeral, or of another type")
    func missing() async throws {
        try await withChat { chat in
            let other = try await chat.say("one", in: "other")
            var draft = EventDraft.message(channel: "room", data: json("1"), user: nil, meta: nil)
            draft.retention = .passing
            let passing = try await chat.emit(draft).event.timetoken
            let typed = try await chat.emit(EventDraft.event(channel: "room", type: "t", data: json("1"))).event
                .timetoken
            for timetoken in [other, passing, typed, 1] {
                try await expect(.notFound) { _ = try await chat.message(timetoken, in: "room") }
                try await expect(.notFound) {
                    _ = try await chat.edit(timetoken, in: "room", to: .data(json("1")), by: nil)
                }
            }
        }
    }

    @Test("marks first and removes for good, each once, and permits no later change")
    func delete() async throws {
        try await withChat { chat in
            let sent = try await chat.say("one", by: "ana")
            let ana = chat.of("ana")
            for _ in 0..<2 { try await ana.delete(sent, in: "room", isHard: false, by: nil) }
            let marked = try await chat.message(sent, in: "room")
            #expect(marked.isDeleted && marked.data == .null && marked.text == nil)
            try await expect(.gone) { _ = try await ana.edit(sent, in: "room", to: .data(json("1")), by: nil) }
            try await expect(.gone) { _ = try await ana.react("smile", to: sent, in: "room", by: nil) }
            for _ in 0..<2 { try await ana.delete(sent, in: "room", isHard: true, by: nil) }
            try await expect(.notFound) { _ = try await chat.message(sent, in: "room") }
            try await expect(.notFound) { _ = try await chat.event(sent) }
            let told = try await chat.told()
            #expect(told.map { $0.value?["hard"]?.boolean } == [false, true])
            #expect(told.allSatisfy { $0.value?["message"]?["user"]?.string == "ana" })
        }
    }

    @Test("removes mentions that hold the message, and ends them no later than it")
    func mentions() async throws {
        try await withChat { chat in
            var draft = EventDraft.message(
                channel: "room", data: json(#"{"text":"secret"}"#), user: "ana", meta: nil)
            draft.timeToLive = .seconds(7200)
            for mentions in [MessageLinks.Mentions.users(["ben", "cleo"]), .channel] {
                let sent = try await chat.post(draft, MessageLinks(mentions: mentions)).events[0].event
                let places = ["room", "ben", "cleo"]
                var told: [Event] = []
                for place in places { told += try await chat.kept(on: place).filter { $0.type == "user.mentioned" } }
                #expect(told.count == (sent.meta?.rawMember("mentionType") == nil ? 2 : 1))
                for event in told {
                    #expect(event.value?["message"]?["data"]?["text"]?.string == "secret")
                    #expect(event.draft.expires == sent.draft.expires && event.draft.expires != nil)
                }
                try await chat.delete(sent.timetoken, in: "room", isHard: true, by: nil)
                for place in places {
                    #expect(try await !chat.kept(on: place).contains { $0.data.description.contains("secret") })
                }
                for event in told { try await expect(.notFound) { _ = try await chat.event(event.timetoken) } }
                let selection = Selection(channels: ChannelSet(app: chat.app, names: places))
                let missed = try await chat.missed(selection, after: .zero, upTo: try await chat.watermark()).events
                #expect(!missed.contains { $0.data.description.contains("secret") })
            }
        }
    }

    @Test("removes every copy of the text for good: of edits and of undone ones")
    func copies() async throws {
        try await withChat { chat in
            let sent = try await chat.say("secret 0", by: "ana")
            let ana = chat.of("ana")
            for number in 1...300 {
                _ = try await ana.edit(sent, in: "room", to: .text(json("\"secret \(number)\"")), by: nil)
            }
            let edit = try #require(try await ana.message(sent, in: "room").record.edit)
            _ = try await ana.undo(edit.at, to: sent, in: "room", by: nil)
            #expect(try await chat.kept(on: "room").contains { $0.data.description.contains("secret") })
            try await ana.delete(sent, in: "room", isHard: true, by: nil)
            #expect(try await chat.kept(on: "room").map(\.type) == ["message.deleted"])
        }
    }

    @Test("hides the text while it is deleted: its edit cannot be undone then")
    func undoOfDeleted() async throws {
        try await withChat { chat in
            let sent = try await chat.say("one", by: "ana")
            let ana = chat.of("ana")
            let edit = try await ana.edit(sent, in: "room", to: .text(json(#""two""#)), by: nil).record.edit
            try await ana.delete(sent, in: "room", isHard: false, by: nil)
            try await expect(.gone) { _ = try await ana.undo(try #require(edit).at, to: sent, in: "room", by: nil) }
        }
    }

    @Test("can be undone: the deletion, then the edit")
    func undo() async throws {
        try await withChat { chat in
            let sent = try await chat.say("one", by: "ana")
            let ana = chat.of("ana")
            let edit = try await ana.edit(sent, in: "room", to: .text(json(#""two""#)), by: nil).record.edit
            try await ana.delete(sent, in: "room", isHard: false, by: nil)
            let deletion = try await ana.message(sent, in: "room").record.deletion
            _ = try await ana.undo(try #require(deletion).at, to: sent, in: "room", by: nil)
            #expect(try await ana.message(sent, in: "room").text == "two")
            _ = try await ana.undo(try #require(edit).at, to: sent, in: "room", by: nil)
            #expect(try await ana.message(sent, in: "room").text == "one")
            try await expect(.notFound) { _ = try await ana.undo(try #require(edit).at, to: sent, in: "room", by: nil) }
            #expect(try await chat.told().count == 4)
        }
    }

    @Test("keeps one of two racing deletions, in any order")
    func race() async throws {
        try await withChat { chat in
            let sent = try await chat.say("one", by: "ana")
            try await atOnce(20) { number in
                try await chat.delete(sent, in: "room", isHard: number % 2 == 0, by: nil)
            }
            let hard = try await chat.told().compactMap { $0.value?["hard"]?.boolean }
            #expect(hard == [true] || hard == [false, true])
            #expect(try await chat.kept(on: "room").allSatisfy { $0.timetoken != sent })
        }
    }
}
