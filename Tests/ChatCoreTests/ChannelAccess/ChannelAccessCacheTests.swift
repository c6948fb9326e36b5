import ChatModel
import ChatSupport
import JSON
import Testing

@testable import ChatCore

@Suite("The access of users to channels") struct ChannelAccessCacheTests {
    private static let small = {
        var limits = Limits()
        limits.channelAccessEntries = 8
        return limits
    }()

    private func slug(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ChatError)?.slug ?? "\(error)"
        }
    }

    @Test("is unrestricted in an app without records, and checked from its first record on")
    func concern() async throws {
        try await Room.open { room in
            #expect(!room.service.accessCache.hasRules(ChatFixture.app))
            try await room.establish("crew")
            #expect(room.service.accessCache.hasRules(ChatFixture.app))
            #expect(!room.service.accessCache.hasRules(AppID("other")))
        }
    }

    private func ban(_ user: String, _ room: Room) async throws {
        _ = try await room.chat.restrict(user, in: "crew", RestrictionRequest(isBan: true))
    }

    @Test("stores nothing by a user after the event that bans, however posts and bans race")
    func bansRace() async throws {
        try await Room.open { room in
            try await room.establish("crew", .public)
            for round in 0..<30 {
                let user = "user\(round)"
                async let ban: Void = ban(user, room)
                async let posts: Void = {
                    for _ in 0..<4 { _ = await slug { try await room.say("hi", in: "crew", by: user) } }
                }()
                _ = try await (ban, posts)
            }
            let events = try await room.chat.history([
                HistoryRequest(channel: ChannelID("crew", in: ChatFixture.app), limit: 250)
            ])
            var banned: Set<String> = []
            for event in events[0].items {
                if event.type == "user.banned" {
                    banned.insert(try #require(try JSONDocument(event.data).root["restriction"]?["user"]?.string))
                } else if let user = event.user, event.type == "message.created" {
                    #expect(!banned.contains(user), "a message of \(user) behind the ban")
                }
            }
            #expect(banned.count == 30)
        }
    }

    @Test("is known after a start on a store with records")
    func start() async throws {
        try await Room.inFile { path in
            try await Room.open(path: path) { room in
                try await room.put(RestrictionRecord(user: "mallory", channel: "crew", isBanned: true, isMuted: false))
            }
            try await Room.open(path: path) { room in
                #expect(await slug { try await room.say("hi", in: "crew", by: "mallory") } == "banned")
            }
        }
    }

    @Test("is refused to banned and muted users, whatever the credential, with the end of the restriction")
    func refusals() async throws {
        try await Room.open { room in
            var ban = RestrictionRecord(user: "mallory", channel: "crew", isBanned: true, isMuted: false)
            ban.until = Timetoken(17_324_123_456_789_012).adding(.seconds(60))
            ban.reason = "spam"
            try await room.put(ban)
            try await room.put(RestrictionRecord(user: "ben", channel: "crew", isBanned: false, isMuted: true))
            #expect(await slug { try await room.say("hi", in: "crew", by: "ben") } == "muted")
            let error = await #expect(throws: ChatError.self) { try await room.say("hi", in: "crew", by: "mallory") }
            #expect(error?.code == .forbidden && error?.slug == "banned")
            #expect(
                error?.message
                    == "user 'mallory' is banned from channel 'crew' until 2024-11-24T01:40:05.678901Z (spam)")
            // A message on another channel, by an unrelated user.
            try await room.say("hi", in: "other", by: "mallory")
            try await room.say("hi", in: "crew", by: nil)
        }
    }

    @Test("includes writing again at the moment the restriction ends")
    func expiry() async throws {
        try await Room.open { room in
            var mute = RestrictionRecord(user: "ben", channel: "crew", isBanned: false, isMuted: true)
            mute.until = room.service.clock.now.adding(.seconds(5))
            try await room.put(mute)
            room.advance(.seconds(4))
            #expect(await slug { try await room.say("hi", in: "crew", by: "ben") } == "muted")
            room.advance(.seconds(1))
            try await room.say("hi", in: "crew", by: "ben")
        }
    }

    @Test("lets only operators and the app itself write in a frozen channel")
    func frozen() async throws {
        try await Room.open { room in
            var channel = ChannelRecord(id: "crew", kind: .public)
            channel.isFrozen = true
            channel.operators = ["ana"]
            try await room.put(channel)
            #expect(await slug { try await room.say("hi", in: "crew", by: "ben") } == "frozen")
            try await room.say("hi", in: "crew", by: "ana")
            try await room.say("hi", in: "crew", by: nil)
            channel.isFrozen = false
            try await room.put(channel)
            try await room.say("hi", in: "crew", by: "ben")
        }
    }

    @Test("limits a private channel to joined users where the credential is a user's own")
    func members() async throws {
        try await Room.open { room in
            try await room.establish("crew", .group, members: ["ana"])
            try await room.establish("lobby", .public)
            let hello = EventDraft.event(channel: "crew", type: "wave", data: Room.text("hi"))
            try await room.chat(of: "ana").emit(hello)
            #expect(await slug { try await room.chat(of: "ben").emit(hello) } == "not_a_member")
            try await room.say("hi", in: "crew", by: "ben")
            var elsewhere = hello
            elsewhere.channel = ChannelID("lobby", in: ChatFixture.app)
            try await room.chat(of: "ben").emit(elsewhere)
            var invited = MembershipRecord(user: "ben", channel: "crew", state: .invited)
            try await room.put(invited)
            #expect(await slug { try await room.chat(of: "ben").emit(hello) } == "not_a_member")
            invited.state = .joined
            try await room.put(invited)
            try await room.chat(of: "ben").emit(hello)
            try await room.remove(MembershipRecord.key("ben", "crew", in: ChatFixture.app))
            #expect(await slug { try await room.chat(of: "ben").emit(hello) } == "not_a_member")
        }
    }

    @Test("determines which users may read a channel")
    func audienceSnapshot() async throws {
        try await Room.open { room in
            try await room.establish("crew", .group, members: ["ana"])
            try await room.establish("lobby", .open)
            try await room.put(RestrictionRecord(user: "mallory", channel: "lobby", isBanned: true, isMuted: false))
            try await room.put(RestrictionRecord(user: "ben", channel: "lobby", isBanned: false, isMuted: true))
            #expect(try await room.mayHear("ana", in: "crew"))
            #expect(try await room.mayHear("ben", in: "crew") == false)
            #expect(try await room.mayHear("ben", in: "lobby"))
            #expect(try await room.mayHear("mallory", in: "lobby") == false)
            #expect(try await room.mayHear("mallory", in: "unheard.of"))
        }
    }

    @Test("opens messages and presence to a user's own credential as far as the user may read the channel")
    func reading() async throws {
        try await Room.open { room in
            try await room.establish("crew", .group, members: ["ana"], operators: ["ana"])
            try await room.put(MembershipRecord(user: "ben", channel: "crew", state: .invited))
            try await room.establish("lobby", .public)
            try await room.put(RestrictionRecord(user: "mallory", channel: "lobby", isBanned: true, isMuted: false))
            let said = try await room.say("hi", in: "crew", by: "ana")
            let loud = try await room.say("hi", in: "lobby", by: "ana")
            _ = try await room.chat.report(said.timetoken, in: "crew", for: "rude", by: "ana")
            _ = try await room.chat.appear("ana", on: "crew")

            typealias Reading = @Sendable (ChatAccess, Event) async throws -> Void
            let ways: [Reading] = [
                { _ = try await $0.history([HistoryRequest(channel: $1.channel, limit: 1)]) },
                { _ = try await $0.counts([HistoryRequest(channel: $1.channel, limit: 1)]) },
                { _ = try await $0.message($1.timetoken, in: $1.channel.name) },
                { _ = try await $0.replies(to: $1.timetoken, in: $1.channel.name, RecordList(limit: 1)) },
                { _ = try await $0.occupants(of: $1.channel.name, limit: 1) },
                { _ = try await $0.metadata(of: $1.channel.name) },
            ]
            for way in ways {
                #expect(await slug { try await way(room.chat, said) } == nil)
                #expect(await slug { try await way(room.chat(of: "ana"), said) } == nil)
                #expect(await slug { try await way(room.chat(of: "ben"), said) } == "not_a_member")
                #expect(await slug { try await way(room.chat(of: "ben"), loud) } == nil)
                #expect(await slug { try await way(room.chat(of: "mallory"), loud) } == "banned")
            }
            try await expect(.notFound) { _ = try await room.chat(of: "ben").event(said.timetoken) }
            #expect(try await room.chat(of: "ana").event(said.timetoken).timetoken == said.timetoken)
            #expect(try await room.chat(of: "ben").presentChannels(of: "ana").isEmpty)
            #expect(try await room.chat(of: "ana").presentChannels(of: "ana") == ["crew"])
            // An invited user may see who invited them, and to which channel.
            #expect(try await room.chat(of: "ben").channelView("crew")?.channel.id == "crew")
            #expect(
                try await room.chat(of: "ben").channels(RecordList(limit: 9)).items.map(\.channel.id) == [
                    "crew", "lobby",
                ])
            #expect(try await room.chat(of: "cleo").channels(RecordList(limit: 9)).items.map(\.channel.id) == ["lobby"])

            let reports = HistoryRequest(
                channel: ChannelID(ChatAccess.moderationChannel(of: "crew"), in: ChatFixture.app), limit: 9)
            #expect(await slug { _ = try await room.chat(of: "ben").history([reports]) } == "not_operator")
            #expect(try await room.chat(of: "ana").history([reports])[0].items.count == 1)
        }
    }

    @Test("is in effect when the change returns, with readers active all the time")
    func races() async throws {
        try await Room.open(
            limits: Self.small
        ) { room in
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !Task.isCancelled {
                            _ = try? await room.say("hi", in: "crew", by: "ben")
                            await Task.yield()
                        }
                    }
                }
                for round in 0..<50 {
                    let ban = RestrictionRecord(user: "ben", channel: "crew", isBanned: true, isMuted: round % 2 == 0)
                    try await room.put(ban)
                    #expect(await slug { try await room.say("hi", in: "crew", by: "ben") } == "banned")
                    try await room.remove(RestrictionRecord.key("ben", "crew", in: ChatFixture.app))
                    try await room.say("hi", in: "crew", by: "ben")
                }
                group.cancelAll()
            }
        }
    }
}
