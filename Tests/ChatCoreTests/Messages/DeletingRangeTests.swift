import ChatModel
import JSON
import Testing

@testable import ChatCore

extension ChatAccess {
    fileprivate func reply(_ text: String, to root: Timetoken, by user: String) async throws -> Timetoken {
        let message = EventDraft.message(
            channel: "room", data: JSONText(string: text), user: user, meta: nil)
        return try await post(message, MessageLinks(threadOf: root)).events[0].event.timetoken
    }

    fileprivate func thread(of root: Timetoken) async throws -> MessageThread {
        try await message(root, in: "room").record.thread
    }

    fileprivate func deleteEvent(_ timetoken: Timetoken) async throws -> Int {
        try await deleteEvents(
            after: Timetoken(timetoken.rawValue - 1), before: Timetoken(timetoken.rawValue + 1), in: "room")
    }

    /// Everything that is stored about a channel's events and about messages, as text.
    fileprivate func everythingStored(_ channels: String...) async throws -> String {
        var text = ""
        for channel in channels { for event in try await kept(on: channel) { text += event.data.description } }
        for kind in [RecordKind.message, .answer] {
            for record in try await directory.list(RecordQuery(kind, in: app, limit: 1000)).items {
                text += record.body.description
            }
        }
        return text
    }
}

@Suite("A deletion by range", .timeLimit(.minutes(2))) struct DeletingRangeTests {
    @Test("is announced on the channel, with its range and count")
    func told() async throws {
        try await withChat { chat in
            let first = try await chat.say("one")
            let second = try await chat.say("two")
            let third = try await chat.say("three")
            #expect(try await chat.deleteEvents(after: first, before: third, in: "room") == 1)
            let event = try #require(try await chat.told().first)
            #expect(event.type == "channel.events_deleted" && event.retention == .kept)
            #expect(event.value?["after"]?.string == first.description)
            #expect(event.value?["before"]?.string == third.description)
            #expect(event.value?["deleted_count"]?.integer == 1)
            #expect(try await chat.kept(on: "room").map(\.timetoken) == [first, third, event.timetoken])
            #expect(try await chat.deleteEvents(after: first, before: third, in: "room") == 0)
            #expect(try await chat.told().count == 1, "nothing was there, nothing is told")
            try await expect(.notFound) { _ = try await chat.message(second, in: "room") }
        }
    }

    @Test("runs in steps, oldest first, which are announced in order and leave nothing out")
    func steps() async throws {
        try await withChat { chat in
            for part in 0..<12 {
                let drafts = (0..<100).map { number in
                    EventDraft.message(
                        channel: "room", data: JSONText { $0.integer(part * 100 + number) }, user: nil, meta: nil)
                }
                _ = try await chat.emit(drafts, claim: nil)
            }
            #expect(try await chat.deleteEvents(after: .zero, before: .distantFuture, in: "room") == 1200)
            let told = try await chat.kept(on: "room").map(\.value)
            #expect(told.map { $0?["deleted_count"]?.integer } == [500, 500, 200])
            #expect(told[0]?["after"]?.string == "0")
            for (one, next) in zip(told, told.dropFirst()) {
                let (before, after) = (one?["before"]?.string, next?["after"]?.string)
                let bound = before.flatMap { Timetoken(text: $0) }?.rawValue
                #expect(bound.map { $0 - 1 } == after.flatMap { Timetoken(text: $0) }?.rawValue)
            }
        }
    }

    @Test("lowers reply counts, names the newest reply that is left, and unpins")
    func threadsAndPins() async throws {
        try await withChat { chat in
            try await chat.make("room", .public)
            let root = try await chat.say("root", by: "ana")
            let first = try await chat.reply("first", to: root, by: "ben")
            let marked = try await chat.reply("marked", to: root, by: "cleo")
            let last = try await chat.reply("last", to: root, by: "ben")
            try await chat.pin(last, in: "room", by: nil)
            try await chat.delete(marked, in: "room", isHard: false, by: nil)
            #expect(try await chat.thread(of: root).last == last)
            let before = try await chat.told().count
            #expect(try await chat.deleteEvents(after: first, before: Timetoken(last.rawValue + 1), in: "room") > 1)
            let thread = try await chat.thread(of: root)
            #expect(thread.replies == 1 && thread.last == first && thread.authors.map(\.user) == ["ben"])
            let channel = try await chat.directory.read(ChannelRecord.key("room", in: chat.app))
            #expect(channel.flatMap { ChannelRecord($0) }?.pinned == .zero)
            let told = try await chat.told().suffix(3)
            #expect(told.map(\.type) == ["channel.events_deleted", "thread.updated", "channel.updated"], "\(before)")
            #expect(told.dropFirst().first?.value?["thread"]?["reply_count"]?.integer == 1)
            // A message and its reply are removed together.
            _ = try await chat.deleteEvents(after: .zero, before: .distantFuture, in: "room")
            #expect(try await chat.kept(on: "room").map(\.type) == ["channel.events_deleted"])
        }
    }

    @Test(
        "removes every copy of the text: edits after the range, the record, reports and stored responses",
        arguments: [true, false])
    func copies(byRange: Bool) async throws {
        try await withChat { chat in
            try await chat.make("room", .public, operators: ["mod"])
            let sent = try await chat.say("secret one", by: "ana")
            let begun = try await chat.service.answers.begin("key", fingerprint: "a", in: chat.app)
            let pending = try #require(begun.pending)
            try await PendingAnswer.$current.withValue(pending) {
                _ = try await chat.edit(sent, in: "room", to: .text(json(#""secret two""#)), by: nil)
            }
            await chat.service.answers.conclude(
                pending, with: .init(status: 200, headers: [], body: Array(#"{"text":"secret two"}"#.utf8)))
            _ = try await chat.of("ben").report(sent, in: "room", for: "rude", by: nil)
            let channels = ("room", "PUBNUB_INTERNAL_MODERATION_room")
            let stored = try await chat.everythingStored(channels.0, channels.1)
            #expect(stored.components(of: "secret") == 7)
            if byRange {
                #expect(try await chat.deleteEvent(sent) == 1)
            } else {
                try await chat.delete(sent, in: "room", isHard: true, by: nil)
            }
            #expect(try await chat.everythingStored(channels.0, channels.1).components(of: "secret") == 0)
        }
    }

    @Test("and a hard deletion leave no text of an edit that was begun before them")
    func edit() async throws {
        for byRange in [true, false] {
            try await withChat { chat in
                let sent = try await chat.say("one", by: "ana")
                let context = try await chat.context(sent, in: "room", for: "message.updated", by: nil)
                if byRange {
                    _ = try await chat.deleteEvent(sent)
                } else {
                    try await chat.delete(sent, in: "room", isHard: true, by: nil)
                }
                try await expect(.notFound) {
                    _ = try await chat.decide(context) { snapshot in
                        var record = context.record(snapshot)
                        record.edit = .init(data: json(#""secret""#), at: snapshot.next, by: nil)
                        return Decision((), changes: [record.change(in: chat.app)])
                    }
                }
            }
        }
    }

    @Test("concurrent with others removes each event once, and counts it once")
    func atTheSameTime() async throws {
        try await withChat { chat in
            let root = try await chat.say("root", by: "ana")
            for number in 0..<40 { _ = try await chat.reply("\(number)", to: root, by: "user\(number % 3)") }
            try await atOnce(4) { _ in _ = try await chat.deleteEvents(after: root, before: .distantFuture, in: "room")
            }
            #expect(try await chat.thread(of: root).replies == 0)
            #expect(try await chat.kept(on: "room").filter(\.isMessage).map(\.timetoken) == [root])
        }
    }

    @Test("requires the scope manage")
    func rights() async throws {
        try await withChat { chat in
            try await expect(.forbidden) {
                _ = try await chat.of("ana").deleteEvents(after: .zero, before: .distantFuture, in: "room")
            }
        }
    }
}

@Suite("The newest reply of a thread", .timeLimit(.minutes(2))) struct NewestReplyTests {
    @Test("is the newest remaining one after a deletion, and the original after an undo", arguments: [true, false])
    func deleted(isHard: Bool) async throws {
        try await withChat { chat in
            let root = try await chat.say("root", by: "ana")
            let first = try await chat.reply("first", to: root, by: "ben")
            let last = try await chat.reply("last", to: root, by: "cleo")
            try await chat.delete(last, in: "room", isHard: isHard, by: nil)
            #expect(try await chat.thread(of: root).last == first)
            if !isHard {
                let deletion = try #require(try await chat.message(last, in: "room").record.deletion)
                _ = try await chat.undo(deletion.at, to: last, in: "room", by: nil)
                #expect(try await chat.thread(of: root).last == last)
                try await chat.delete(last, in: "room", isHard: true, by: nil)
            }
            try await chat.delete(first, in: "room", isHard: isHard, by: nil)
            #expect(try await chat.thread(of: root).last == .zero)
        }
    }
}

extension String {
    fileprivate func components(of word: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: word) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}

extension StoredAnswers.Earlier {
    fileprivate var pending: PendingAnswer? { if case .none(let pending) = self { pending } else { nil } }
}
