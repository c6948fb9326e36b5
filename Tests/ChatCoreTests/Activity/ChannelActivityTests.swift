import ChatModel
import ChatSupport
import JSON
import Locking
import TestSupport
import Testing

@testable import ChatCore

/// Records the events that a feed passes to it.
private final class ActivitySink: FeedSink {
    nonisolated(unsafe) var feedPlace: FeedPlace?  // Safe: only the hub uses it, on its executor.
    private let events = Lock<[Event]>([])
    func receive(_ events: [Event]) { self.events.withLock { $0 += events } }
    var all: [Event] { events.withLock { $0 } }

    /// The texts of the last messages that were announced, and the counts, in their order.
    var told: [String] {
        all.map { event in
            let root = event.json
            if let count = root?["unread_count"]?.integer { return "\(root?["channel"]?["id"]?.string ?? "") \(count)" }
            return root?["last_message"]?["data"]?["text"]?.string ?? "\(event.type)"
        }
    }
}

extension Room {
    fileprivate func follow(
        _ channels: [String] = [], types: [String] = ["channel.activity"], by access: ChatAccess? = nil,
        as user: String? = nil
    ) async throws -> (sink: ActivitySink, selection: Selection) {
        let access = access ?? chat
        var selection = try access.selection(channels: channels, types: types)
        if let user { selection = try await access.selection(selection, heardBy: user, on: "phone") }
        let sink = ActivitySink()
        await service.hub.attach(sink, to: selection)
        return (sink, selection)
    }

    /// Waits until the sink has received `count` events, after all due events were sent.
    fileprivate func told(_ count: Int, _ sink: ActivitySink) async -> [String] {
        await service.activity.report()
        await waitUntil { sink.all.count >= count }
        return sink.told
    }

    /// Appends an event after everything that was sent, so that no earlier event can still arrive.
    fileprivate func settled() async throws {
        await service.activity.report()
        let end = try await service.engine.log.watermark(of: ChatFixture.app)
        #expect(await service.hub.reach(end))
    }
}

@Suite("channel.activity", .timeLimit(.minutes(1))) struct ChannelActivityTests {
    @Test("announces a new last message at once, then at most once a second, and always the newest")
    func coalesced() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana"])
            let (sink, _) = try await room.follow(["crew"])
            try await room.say("1", in: "crew", by: "ana")
            #expect(await room.told(1, sink) == ["1"])
            for text in ["2", "3", "4"] { try await room.say(text, in: "crew", by: "ana") }
            try await room.settled()
            #expect(sink.told == ["1"])
            room.advance(.milliseconds(999))
            try await room.settled()
            #expect(sink.told == ["1"])
            room.advance(.milliseconds(1))
            #expect(await room.told(2, sink) == ["1", "4"])
            room.advance(.seconds(5))
            try await room.settled()
            #expect(sink.told == ["1", "4"])

            let event = try #require(sink.all.last)
            #expect(event.user == "ana" && event.audience == .rule(.joined) && event.retention == .passing)
            try expectValid([event])
            #expect(event.json?["channel"]?["kind"]?.string == "group")
            let message = try #require(
                try await room.chat.messages(
                    HistoryRequest(channel: room.chat.channel("crew"), order: .newestFirst, limit: 1)
                ).items.first)
            #expect(event.data.rawMember("last_message") == JSONText { message.print(to: &$0) })
            #expect(try await room.chat.kept(on: "crew").allSatisfy { $0.type != "channel.activity" })
        }
    }

    @Test("never announces a message that was deleted before, but the previous one if that is new")
    func deleted() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana"])
            let (sink, _) = try await room.follow(["crew"])
            try await room.say("1", in: "crew", by: "ana")
            _ = await room.told(1, sink)
            try await room.say("2", in: "crew", by: "ana")
            let third = try await room.say("3", in: "crew", by: "ana").timetoken
            let fourth = try await room.say("4", in: "crew", by: "ana").timetoken
            try await room.chat.delete(fourth, in: "crew", isHard: false, by: nil)
            try await room.chat.delete(third, in: "crew", isHard: true, by: nil)
            room.advance(.seconds(1))
            #expect(await room.told(2, sink) == ["1", "2"])
            let fifth = try await room.say("5", in: "crew", by: "ana").timetoken
            try await room.chat.delete(fifth, in: "crew", isHard: true, by: nil)
            room.advance(.seconds(1))
            try await room.settled()
            #expect(sink.told == ["1", "2"])
        }
    }

    @Test("is caught up without a message that was deleted meanwhile")
    func caughtUp() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana"])
            let (sink, selection) = try await room.follow(["crew"])
            let start = try await room.chat.now
            let said = try await room.say("1", in: "crew", by: "ana").timetoken
            _ = await room.told(1, sink)
            for isDeleted in [false, true] {
                if isDeleted { try await room.chat.delete(said, in: "crew", isHard: true, by: nil) }
                var reading = room.chat.catchUp(selection, after: start, upTo: try await room.chat.now)
                let read = try await reading.nextPage(limit: 100)
                #expect(read.map(\.type) == ["channel.activity"])
                #expect((read.first?.data.rawMember("last_message") == .null) == isDeleted)
                try expectValid(read)
            }
        }
    }

    @Test("is caught up without a message that a deletion by range has removed")
    func caughtUpBehindRange() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana"])
            let (sink, selection) = try await room.follow(["crew"])
            let start = try await room.chat.now
            try await room.say("1", in: "crew", by: "ana")
            _ = await room.told(1, sink)
            _ = try await room.chat.deleteEvents(after: start, before: .distantFuture, in: "crew")
            var reading = room.chat.catchUp(selection, after: start, upTo: try await room.chat.now)
            let read = try await reading.nextPage(limit: 100)
            #expect(read.map(\.type) == ["channel.activity"])
            #expect(read.first?.data.rawMember("last_message") == .null)
            try expectValid(read)
        }
    }

    @Test("is sent to readers that name the type, whatever else they select")
    func named() async throws {
        try await Room.open { room in
            let named = try await room.follow(["a"])
            let besides = try await room.follow(["a"], types: ["*", "channel.activity"])
            let below = try await room.follow(["a"], types: ["channel.*"])
            let all = try await room.follow(["a"], types: ["*"])
            let absent = try await room.follow(["a"], types: [])
            let rights: [NamePattern] = [.exact("channel.activity"), .exact("message.created")]
            let narrow = room.service.chat(
                for: Caller(app: ChatFixture.app, credential: "key_n", scopes: [.read], types: rights))
            let byRights = try await room.follow(["a"], types: [], by: narrow)
            try await room.say("1", in: "a", by: "ana")
            _ = await room.told(1, named.sink)
            try await room.settled()
            #expect(besides.sink.all.map(\.type) == ["message.created", "channel.activity"])
            #expect(below.sink.all.isEmpty)
            for other in [all, absent, byRights] { #expect(other.sink.all.map(\.type) == ["message.created"]) }
        }
    }

    @Test("is sent to readers of the channel only, and not for messages of users they block")
    func rights() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben", "carl"])
            _ = try await room.chat.block("ana", for: "carl")
            let ben = try await room.follow([], as: "ben")
            let carl = try await room.follow([], as: "carl")
            let dora = try await room.follow([], as: "dora")
            let token = try await room.follow(["*"], by: room.chat(of: "eve"))
            try await room.say("1", in: "crew", by: "ana")
            _ = await room.told(1, ben.sink)
            try await room.settled()
            #expect(ben.sink.told.filter { $0 == "1" } == ["1"])
            for other in [carl, dora, token] { #expect(!other.sink.told.contains("1")) }
        }
    }

    @Test("costs nothing for channels without a reader that names it")
    func unfollowed() async throws {
        try await Room.open { room in
            try await room.say("0", in: "a", by: "ana")
            try await room.settled()
            #expect(!room.service.activity.hasFollowers)
            let (sink, _) = try await room.follow(["a", "b.*"])
            for channel in ["c", "b", "bb.x"] { try await room.say("1", in: channel, by: "ana") }
            try await room.settled()
            #expect(room.service.activity.channelsHeld == 0)
            try await room.say("2", in: "b.x", by: "ana")
            #expect(await room.told(1, sink) == ["2"])
            #expect(room.service.activity.channelsHeld == 1)
            room.advance(.seconds(1))
            try await room.settled()
            await waitUntil { room.service.activity.channelsHeld == 0 }
            // The sink may come back, so the events in between can be caught up with.
            await room.service.hub.detach(sink)
            #expect(room.service.activity.hasFollowers)
            room.service.activity.change { $0.forgetEnded(now: .now + ActivityFollowers.grace) }
            #expect(!room.service.activity.hasFollowers)
        }
    }

    @Test("is sent to webhooks that follow the channel, and not for replies")
    func webhooks() async throws {
        try await Room.open { room in
            let webhook = SubscriberID("wh_1", in: ChatFixture.app)
            room.service.followActivity(
                ChannelSet(app: ChatFixture.app, patterns: [.below("a.")]), by: webhook)
            let start = try await room.chat.now
            let root = try await room.say("1", in: "a.b", by: "ana").timetoken
            _ = try await room.chat.post(
                EventDraft.message(channel: "a.b", data: Room.text("2"), user: "ana", meta: nil),
                MessageLinks(threadOf: root))
            try await room.say("3", in: "b", by: "ana")
            await room.service.activity.report()
            func told() async throws -> [Event] {
                try await room.chat.events(after: start).filter { $0.type == "channel.activity" }
            }
            await waitUntil { (try? await told().count) == 1 }
            room.advance(.seconds(1))
            await room.service.activity.report()
            #expect(try await told().map { $0.json?["last_message"]?["data"]?["text"]?.string } == ["1"])
            room.service.followActivity(nil, by: webhook)
            #expect(!room.service.activity.hasFollowers)
        }
    }

    @Test("sends a user the unread count of each channel, at most once a second, while someone follows")
    func unread() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"])
            try await room.establish("work", members: ["ana", "ben"])
            room.advance(.seconds(1))
            let (sink, _) = try await room.follow(["ben"], as: "ben")
            let user = UserID("ben", in: ChatFixture.app)
            await room.service.watchUnread(of: user, isOn: true)
            await room.service.unread.reportChanges()
            /// The unread count that was last sent for each channel.
            func latest() -> [String: Int64] {
                sink.all.reduce(into: [:]) { latest, event in
                    guard let name = event.json?["channel"]?["id"]?.string else { return }
                    latest[name] = event.json?["unread_count"]?.integer
                }
            }
            for _ in 0..<2 { try await room.say("hello", in: "crew", by: "ana") }
            try await room.say("hello", in: "work", by: "ana")
            // Some counts may have been sent in between; the rest follow a second later.
            await waitUntil {
                room.advance(.seconds(1))
                await room.service.unread.reportChanges()
                return latest() == ["crew": 2, "work": 1]
            }
            let event = try #require(sink.all.first)
            #expect(event.audience == .rule(.user, subjects: ["ben"]) && event.channel.name == "ben")
            try expectValid(sink.all)
            room.advance(.seconds(1))
            _ = try await room.chat.mark(.read, "ben", in: "crew")
            await room.service.unread.reportChanges()
            await waitUntil { latest() == ["crew": 0, "work": 1] }
            try await room.say("again", in: "crew", by: "ana")
            await room.service.unread.reportChanges()
            try await room.settled()
            #expect(latest() == ["crew": 0, "work": 1])
            room.advance(.seconds(1))
            await room.service.unread.reportChanges()
            await waitUntil { latest() == ["crew": 1, "work": 1] }
            await room.service.hub.detach(sink)
            await room.service.watchUnread(of: user, isOn: false)
            let start = try await room.chat.now
            room.advance(.seconds(1))
            try await room.say("more", in: "work", by: "ana")
            await room.service.unread.reportChanges()
            #expect(try await room.chat.events(on: "ben", after: start).isEmpty)
        }
    }
}
