import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("A message that quotes, replies or mentions", .timeLimit(.minutes(2))) struct PostingTests {
    private func message(_ text: String, by user: String = "ana", meta: String? = nil) -> EventDraft {
        .message(
            channel: "room",
            data: JSONText { writer in
                writer.beginObject()
                writer.member("text", text)
                writer.endObject()
            }, user: user, meta: meta.map { json($0) })
    }

    @Test("says in its meta what it quotes and whom it mentions")
    func meta() async throws {
        try await withChat { chat in
            let first = try await chat.say("first", by: "ben")
            _ = try await chat.edit(first, in: "room", to: .text(json(#""better""#)), by: nil)
            var ben = UserRecord(id: "ben")
            ben.name = "Ben"
            _ = try await chat.directory.write([RecordChange(UserRecord.key("ben", in: chat.app), body: ben.body)])
            let links = MessageLinks(quote: first, mentions: .users(["ben", "cleo"]))
            let event = try await chat.post(message("hi", meta: #"{"n":1.50}"#), links).events[0].event
            #expect(
                event.meta?.description == #"{"n":1.50,"quotedMessage":{"timetoken":"\#(first)","text":"better","#
                    + #""userId":"ben"},"mentionedUsers":{"0":{"id":"ben","name":"Ben"},"1":{"id":"cleo","name":"cleo"}}}"#
            )
            try await expect(.malformed) { _ = try await chat.post(self.message("x", meta: "1"), links) }
            try await expect(.malformed) {
                _ = try await chat.post(self.message("x", meta: #"{"threadOf":"1"}"#), links)
            }
            try await expect(.malformed) {
                _ = try await chat.post(self.message("x"), MessageLinks(mentions: .users(["a", "a"])))
            }
            try await expect(.notFound) { _ = try await chat.post(self.message("x"), MessageLinks(quote: 1)) }
        }
    }

    @Test("notifies every mentioned member in the commit that sends it")
    func mentions() async throws {
        try await withChat { chat in
            try await chat.make("room", .group)
            try await chat.join("ana")
            let users = (0..<12).map { "user\($0)" }
            for user in users { try await chat.join(user) }
            let links = MessageLinks(mentions: .users(["stranger"] + users))
            let sent = try await chat.of("ana", device: "d").post(message("hi"), links).events[0].event
            #expect(sent.audience == .rule(.joinedButOrigin) && sent.draft.cause == "req")
            for user in users {
                let told = try await chat.told(on: user)
                #expect(told.map(\.type) == ["user.mentioned"])
                let event = try #require(told.first)
                #expect(event.value?["message"]?["timetoken"]?.string == sent.timetoken.description)
                #expect(event.value?["mentions"]?.strings == users)
                #expect(event.audience == .rule(.mentionedButOrigin, subjects: [user]))
                #expect(event.timetoken > sent.timetoken && event.draft.cause == "req")
            }
            #expect(try await chat.told(on: "stranger").isEmpty)
        }
    }

    @Test("notifies a mentioned user whose ban has ended, and no banned user")
    func mentionsAfterBan() async throws {
        try await withChat { chat in
            var over = RestrictionRecord(user: "ben", channel: "room", isBanned: true, isMuted: false)
            over.until = Timetoken(1)
            let ban = RestrictionRecord(user: "cleo", channel: "room", isBanned: true, isMuted: false)
            _ = try await chat.directory.write(
                [over, ban].map { restriction in
                    let key = RestrictionRecord.key(restriction.user, "room", in: chat.app)
                    return RecordChange(key, body: restriction.body, parent: "room")
                })
            _ = try await chat.post(message("hi"), MessageLinks(mentions: .users(["ben", "cleo"])))
            #expect(try await chat.told(on: "ben").map(\.type) == ["user.mentioned"])
            #expect(try await chat.told(on: "cleo").isEmpty)
        }
    }

    @Test("notifies the channel once where every member is mentioned")
    func everybody() async throws {
        try await withChat { chat in
            let sent = try await chat.post(message("all"), MessageLinks(mentions: .channel)).events[0].event
            let told = try await chat.told()
            #expect(told.map(\.type) == ["user.mentioned"])
            #expect(told[0].value?["mentions"]?.string == "channel")
            #expect(sent.meta?.description == #"{"mentionType":"channel"}"#)
        }
    }

    @Test("returns to its thread when its deletion is undone")
    func undone() async throws {
        try await withChat { chat in
            let root = try await chat.say("root", by: "ana")
            let links = MessageLinks(threadOf: root)
            let reply = try await chat.post(message("a reply", by: "ben"), links).events[0].event.timetoken
            for _ in 0..<2 {
                try await chat.delete(reply, in: "room", isHard: false, by: nil)
                #expect(try await chat.message(root, in: "room").record.thread.replies == 0)
                let deletion = try await chat.message(reply, in: "room").record.deletion
                _ = try await chat.undo(try #require(deletion).at, to: reply, in: "room", by: nil)
                let thread = try await chat.message(root, in: "room").record.thread
                #expect(thread.replies == 1 && thread.last == reply && thread.authors.map(\.user) == ["ben"])
            }
        }
    }

    @Test("belongs to a thread, which is counted, listed and announced")
    func thread() async throws {
        try await withChat { chat in
            try await chat.make("room", .group)
            let root = try await chat.say("root", by: "ana")
            var replies: [Timetoken] = []
            for user in ["ben", "cleo", "ben"] {
                let links = MessageLinks(threadOf: root)
                replies.append(try await chat.post(message("re", by: user), links).events[0].event.timetoken)
            }
            let thread = try await chat.message(root, in: "room").record.thread
            #expect(thread.replies == 3 && thread.last == replies[2])
            #expect(thread.authors.map(\.user) == ["ben", "cleo"])
            let page = try await chat.replies(to: root, in: "room", RecordList(limit: 2))
            #expect(page.items.map(\.timetoken) == Array(replies.prefix(2)) && page.hasMore)
            #expect(page.items[0].record.threadOf == root)
            let told = try await chat.told()
            #expect(told.map(\.type) == ["thread.updated", "thread.updated", "thread.updated"])
            #expect(told[2].value?["thread"]?["reply_count"]?.integer == 3)
            #expect(
                told[2].audience == .rule(.joinedAndThreadButOrigin, subjects: ["ben", "cleo", "ana"]))
            try await expect(.conflict) {
                _ = try await chat.post(self.message("re"), MessageLinks(threadOf: replies[0]))
            }
            try await expect(.notFound) { _ = try await chat.post(self.message("re"), MessageLinks(threadOf: 1)) }

            try await chat.delete(replies[2], in: "room", isHard: true, by: nil)
            try await chat.delete(replies[0], in: "room", isHard: false, by: nil)
            #expect(
                try await chat.told().suffix(4).map(\.type) == [
                    "message.deleted", "thread.updated", "message.deleted", "thread.updated",
                ])
            let rest = try await chat.message(root, in: "room").record.thread
            #expect(rest.replies == 1 && rest.authors.map(\.user) == ["cleo"])
            let listed = try await chat.replies(to: root, in: "room", RecordList(limit: 9)).items
            #expect(listed.map(\.isDeleted) == [true, false])
        }
    }

    @Test("counts concurrent replies exactly")
    func race() async throws {
        try await withChat { chat in
            let root = try await chat.say("root", by: "ana")
            try await atOnce(100) { number in
                _ = try await chat.post(message("re", by: "user\(number % 30)"), MessageLinks(threadOf: root))
            }
            let thread = try await chat.message(root, in: "room").record.thread
            #expect(thread.replies == 100 && thread.authors.count == MessageThread.authorsMost)
            let told = try await chat.told().compactMap { $0.value?["thread"]?["reply_count"]?.integer }
            #expect(told == Array(1...100))
        }
    }

    @Test("is sent once for one claim, even if its repeat would be refused")
    func repeats() async throws {
        try await withChat { chat in
            let root = try await chat.say("root", by: "ana")
            let claim = Claim(
                app: chat.app, key: Array(repeating: 1, count: 32), fingerprint: [1], note: .null,
                until: chat.service.clock.now.adding(.seconds(60)))
            let links = MessageLinks(threadOf: root, mentions: .users(["ben"]))
            let first = try await chat.post(message("re"), links, claim: claim).events[0]
            try await chat.delete(root, in: "room", isHard: true, by: nil)
            let again = try await chat.post(message("re"), links, claim: claim)
            #expect(again.events[0].event.timetoken == first.event.timetoken && again.repeatedNote != nil)
            #expect(try await chat.told(on: "ben").count == 1)
        }
    }

    @Test("can be forwarded, pinned and reported")
    func actionRecords() async throws {
        try await withChat { chat in
            try await chat.make("room", .group, operators: ["mod"])
            try await chat.join("ana", "ben")
            let sent = try await chat.say("look", by: "ana")
            let forward = try await chat.of("ben").forward(sent, in: "room", to: "elsewhere", by: nil).events[0].event
            #expect(forward.channel.name == "elsewhere" && forward.user == "ben")
            #expect(
                forward.meta?.description == #"{"originalPublisher":"ana","originalChannelId":"room"}"#)

            try await expect(.forbidden) { try await chat.of("ben").pin(sent, in: "room", by: nil) }
            for _ in 0..<2 { try await chat.of("mod").pin(sent, in: "room", by: nil) }
            let record = try await chat.directory.read(ChannelRecord.key("room", in: chat.app))
            #expect(record.flatMap { ChannelRecord($0) }?.pinned == sent)
            #expect(try await chat.told().map(\.type) == ["channel.updated"])

            for reason in ["rude", "again"] {
                _ = try await chat.of("ben").report(sent, in: "room", for: reason, by: nil)
            }
            let request = HistoryRequest(channel: ChannelID("room", in: chat.app), limit: 10)
            let reports = try await chat.of("mod").reports(request, by: nil).items
            #expect(reports.map { $0.value?["reason"]?.string } == ["rude"])
            #expect(try await chat.told(on: "PUBNUB_INTERNAL_MODERATION_room").count == 1)
            try await expect(.forbidden) { _ = try await chat.of("ben").reports(request, by: nil) }

            try await chat.of("ana").delete(sent, in: "room", isHard: false, by: nil)
            #expect(try await chat.told().map(\.type) == ["channel.updated", "message.deleted", "channel.updated"])
            try await chat.unpin(sent, in: "room", by: nil)
            #expect(try await chat.told().count == 3, "nothing is pinned any more")
        }
    }

    @Test("is pinned by both in a direct channel")
    func direct() async throws {
        try await withChat { chat in
            try await chat.make("room", .direct)
            try await chat.join("ana", "ben")
            let sent = try await chat.say("look", by: "ana")
            try await chat.of("ben").pin(sent, in: "room", by: nil)
            try await expect(.forbidden) { try await chat.of("cleo").unpin(sent, in: "room", by: nil) }
            try await chat.of("ana").unpin(sent, in: "room", by: nil)
            #expect(try await chat.told().count == 2)
            try await expect(.notFound) { try await chat.unpin(sent, in: "nowhere", by: nil) }
        }
    }
}
