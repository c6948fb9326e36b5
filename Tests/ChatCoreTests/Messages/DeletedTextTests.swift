import ChatModel
import JSON
import JSONSchema
import Testing

@testable import ChatCore

@Suite("The text of a message that is marked as deleted", .timeLimit(.minutes(2))) struct DeletedTextTests {
    /// A message by ana that says `secret`, also in its metadata, mentions ben, was edited and reported, and is marked as deleted by another
    /// user.
    private static func with(
        deletedBy user: String, _ body: @escaping @Sendable (ChatAccess, Timetoken) async throws -> Void
    ) async throws {
        try await withChat { chat in
            try await chat.make("room", .public, operators: ["mod"])
            try await chat.join("ana", "ben", "mod")
            let message = EventDraft.message(
                channel: "room", data: json(#"{"text":"secret one"}"#), user: "ana",
                meta: json(#"{"note":"secret"}"#))
            let sent = try await chat.post(message, MessageLinks(mentions: .users(["ben"]))).events[0].event.timetoken
            _ = try await chat.of("ana").edit(sent, in: "room", to: .text(json(#""secret two""#)), by: nil)
            _ = try await chat.of("ben").report(sent, in: "room", for: "rude", by: nil)
            try await chat.of(user).delete(sent, in: "room", isHard: false, by: nil)
            try await body(chat, sent)
        }
    }

    private static func read(_ chat: ChatAccess, _ sent: Timetoken) async throws -> [String] {
        let request = HistoryRequest(channel: ChannelID("room", in: chat.app), limit: 100)
        var texts = try await chat.history([request])[0].items.map(\.data.description)
        texts.append(try await chat.event(sent).data.description)
        return texts
    }

    @Test("is readable only for users who may undo the deletion", arguments: ["ana", "mod"])
    func readers(doer: String) async throws {
        try await Self.with(deletedBy: doer) { chat, sent in
            let readers = [("ana", doer == "ana"), ("ben", false), ("mod", true)]
            for (reader, reads) in readers {
                let texts = try await Self.read(chat.of(reader), sent)
                #expect(texts.filter { $0.contains("secret") }.count == (reads ? 3 : 0), "\(reader): \(texts)")
            }
            #expect(try await Self.read(chat, sent).contains { $0.contains("secret") }, "the scope manage")
            let program = chat.service.chat(for: Caller(app: chat.app, credential: "key", scopes: [.read]))
            #expect(try await !Self.read(program, sent).contains { $0.contains("secret") })
            for reader in [program, chat.of("ben")] {
                let mentions = HistoryRequest(channel: ChannelID("ben", in: chat.app), limit: 9)
                let told = try await reader.history([mentions])[0].items
                #expect(told.map { $0.value?["message"]?["data"]?.isNull } == [true])
                #expect(try await reader.event(told[0].timetoken).data == told[0].data)
            }
            let reports = HistoryRequest(
                channel: ChannelID("PUBNUB_INTERNAL_MODERATION_room", in: chat.app), limit: 9)
            #expect(
                try await program.history([reports])[0].items.map { $0.value?["message"]?["data"]?.isNull } == [true])
        }
    }

    @Test("is null in events, which still match their schemas")
    func shape() async throws {
        try await Self.with(deletedBy: "ana") { chat, sent in
            let request = HistoryRequest(channel: ChannelID("room", in: chat.app), limit: 100)
            let events = try await chat.of("ben").history([request])[0].items
            #expect(events.map(\.type) == ["message.created", "message.updated", "message.deleted"])
            #expect(events[0].timetoken == sent && events[0].data == .null && events[0].user == "ana")
            #expect(events[0].meta == nil)
            #expect(events[1].value?["message"]?["timetoken"]?.string == sent.description)
            #expect(events[1].value?["message"]?["data"]?.isNull == true)
            #expect(events[1].value?["changes"]?.elements?.isEmpty == true)
            for event in events.dropFirst() {
                let type = try #require(BuiltInCatalogue.named(event.type))
                let schema = try Schema(JSONDocument(Array(type.schema.utf8)))
                #expect(schema.report(on: try JSONDocument(event.data).root).violations.isEmpty)
            }
        }
    }

    @Test("is not in events that streams and polls catch up with, except on a wire that shows it")
    func catchUp() async throws {
        try await Self.with(deletedBy: "ana") { chat, sent in
            func caughtUp(_ chat: ChatAccess) async throws -> [Event] {
                let selection = Selection(
                    channels: ChannelSet(app: chat.app, names: ["room"]),
                    filter: try Filter("data.text != 'x' || data.message.channel == 'room'"))
                return try await chat.missed(selection, after: .zero, upTo: try await chat.watermark()).events
            }
            for reader in [chat, chat.of("ana"), chat.of("ben")] {
                let events = try await caughtUp(reader)
                #expect(!events.contains { $0.data.description.contains("secret") })
                #expect(!events.contains { $0.meta?.description.contains("secret") ?? false })
            }
            var wire = chat
            wire.showsDeletedTexts = true
            let events = try await caughtUp(wire)
            #expect(events.filter { $0.data.description.contains("secret") }.count == 2)
        }
    }

    @Test("is restored when the deletion is undone")
    func undone() async throws {
        try await Self.with(deletedBy: "ana") { chat, sent in
            let deletion = try #require(try await chat.message(sent, in: "room").record.deletion)
            _ = try await chat.of("ana").undo(deletion.at, to: sent, in: "room", by: nil)
            #expect(try await Self.read(chat.of("ben"), sent).filter { $0.contains("secret") }.count == 4)
        }
    }
}
