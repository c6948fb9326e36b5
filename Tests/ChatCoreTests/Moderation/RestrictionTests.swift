import ChatModel
import ChatSupport
import JSON
import Locking
import Testing

@testable import ChatCore

@Suite("Restrictions") struct RestrictionTests {
    private static let ban = RestrictionRequest(isBan: true, reason: "spam")
    private static let mute = RestrictionRequest(isMute: true)

    private func types(_ events: [Event]) -> [String] { events.map(\.type) }

    /// Every event of a channel, ephemeral ones included, each validated against the catalogue.
    private func told(_ room: Room, on channel: String = "crew", since: Timetoken = .zero) async throws -> [Event] {
        let channels = ChannelSet(app: ChatFixture.app, names: [channel])
        let events = try await room.service.engine.log.events(in: channels, after: since, limit: 1000).items
            .filter { $0.audience != .wire }
        for event in events {
            let report = try await room.chat.validate(event.data, as: event.type)
            #expect(report.isValid, "\(event.type): \(report.faults)")
        }
        return events
    }

    @Test("ban a member out of the channel, in the order of cause and effect, with exact counts")
    func ban() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "mallory"], operators: ["ana"])
            let start = room.service.clock.now
            let written = try await room.chat.restrict("mallory", in: "crew", Self.ban, by: "ana")
            #expect(written.isNew && written.record.moderator == "ana" && written.record.reason == "spam")
            let events = try await told(room)
            #expect(types(events) == ["user.banned", "member.left", "channel.member_count.updated"])
            #expect(Set(events.map(\.draft.cause)).count == 1)
            let data = try JSONDocument(events[0].data).root
            #expect(data["restriction"]?["until"]?.isNull == true && data["moderator"]?["id"]?.string == "ana")
            #expect(events[0].audience == .rule(.joinedAndSubjects, subjects: ["mallory"]))
            #expect(written.record.since >= start && written.record.updated == events[0].timetoken)
            let counts = try await room.service.engine.directory.read(MemberCounts.key("crew", in: ChatFixture.app))
            #expect(MemberCounts(counts) == MemberCounts(all: 1, joined: 1))
            #expect(try await room.mayHear("mallory", in: "crew") == false)
        }
    }

    @Test("keep the banned from coming back until the ban is lifted")
    func joining() async throws {
        try await Room.open { room in
            try await room.establish("lobby", .public, members: ["mallory"])
            _ = try await room.chat.restrict("mallory", in: "lobby", Self.ban)
            let error = await #expect(throws: ChatError.self) { _ = try await room.chat.join("mallory", to: "lobby") }
            #expect(error?.slug == "banned")
            try await room.chat.lift(restrictionOf: "mallory", in: "lobby")
            _ = try await room.chat.join("mallory", to: "lobby")
        }
    }

    @Test("set again change nothing, and lifted again neither")
    func repeats() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ben"])
            let first = try await room.chat.restrict("ben", in: "crew", Self.mute)
            let second = try await room.chat.restrict("ben", in: "crew", Self.mute)
            #expect(first.isNew && !second.isNew && first.record == second.record)
            try await room.chat.lift(restrictionOf: "ben", in: "crew")
            try await room.chat.lift(restrictionOf: "ben", in: "crew")
            let events = try await told(room)
            #expect(types(events) == ["user.muted", "user.unmuted"])
            let end = try JSONDocument(events[1].data).root
            #expect(end["end_reason"]?.string == "request")
        }
    }

    @Test("replaced by others announce the end before the beginning")
    func replaced() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana"])
            _ = try await room.chat.restrict("ben", in: "crew", Self.ban)
            _ = try await room.chat.restrict("ben", in: "crew", Self.mute)
            #expect(try await types(told(room)) == ["user.banned", "user.unbanned", "user.muted"])
        }
    }

    @Test("announce their end once, at its time, by one node")
    func expiry() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ben"])
            let until = room.service.clock.now.adding(.seconds(60))
            _ = try await room.chat.restrict("ben", in: "crew", RestrictionRequest(isMute: true, until: until))
            await room.service.sweepRestrictions()
            room.advance(.seconds(61))
            async let first: Void = room.service.sweepRestrictions()
            async let second: Void = room.service.sweepRestrictions()
            _ = await (first, second)
            let events = try await told(room)
            #expect(types(events) == ["user.muted", "user.unmuted"])
            let end = try JSONDocument(events[1].data).root
            #expect(end["end_reason"]?.string == "expired")
            #expect(
                try await room.service.engine.directory.read(
                    RestrictionRecord.key("ben", "crew", in: ChatFixture.app))
                    == nil)
        }
    }

    @Test("survive a restart, and end on time afterwards")
    func restart() async throws {
        try await Room.inFile { path async throws in
            try await Room.open(path: path) { room async throws in
                let until = room.service.clock.now.adding(.seconds(60))
                _ = try await room.chat.restrict("ben", in: "crew", RestrictionRequest(isBan: true, until: until))
            }
            try await Room.open(path: path) { room async throws in
                #expect(try await room.chat.restriction(of: "ben", in: "crew").isBanned)
                room.advance(.seconds(61))
                await room.service.sweepRestrictions()
                #expect(try await types(told(room)) == ["user.banned", "user.unbanned"])
            }
        }
    }

    @Test("are checked once for each end, and again when the clock was set back before it")
    func stepBack() async throws {
        try await Room.open { room in
            let (service, app) = (room.service, ChatFixture.app)
            let ends = RestrictionExpiries(
                directory: service.engine.directory, keyring: service.keyring, clock: service.clock, limits: Limits())
            var restriction = RestrictionRecord(user: "ben", channel: "crew", isBanned: false, isMuted: true)
            let key = RestrictionRecord.key("ben", "crew", in: app)
            for seconds in [10, 60, 60] {
                restriction.until = service.clock.now.adding(.seconds(seconds))
                ends.expect(restriction, at: key)
            }
            let inForce = restriction
            room.advance(.seconds(61))
            for answer in [inForce, nil] {
                let looked = Lock(0)
                await ends.sweep { key throws(ChatError) in
                    looked.withLock { $0 += 1 }
                    return answer
                }
                #expect(looked.withLock { $0 } == 1)
            }
            await ends.sweep { key throws(ChatError) in
                Issue.record("\(key) was over")
                return nil
            }
        }
    }

    @Test("end on time when more end than memory holds")
    func many() async throws {
        var limits = Limits()
        limits.restrictionEndsHeld = 4
        try await Room.open(limits: limits) { room in
            for number in 0..<10 {
                let until = room.service.clock.now.adding(.seconds(100 - number))
                _ = try await room.chat.restrict(
                    "u\(number)", in: "crew", RestrictionRequest(isMute: true, until: until))
            }
            room.advance(.seconds(95))
            for _ in 0..<4 { await room.service.sweepRestrictions() }
            let left = try await room.chat.restrictions(in: "crew", RecordList(limit: 50)).items.map(\.user)
            #expect(left == ["u0", "u1", "u2", "u3", "u4"])
            let unmuted = try await told(room).filter { $0.type == "user.unmuted" }
            #expect(unmuted.count == 5)
        }
    }

    @Test("are listed by channel and by user, those that are over left out")
    func lists() async throws {
        try await Room.open { room in
            _ = try await room.chat.restrict("ben", in: "crew", Self.ban)
            _ = try await room.chat.restrict("ben", in: "lobby", Self.mute)
            let until = room.service.clock.now.adding(.seconds(5))
            _ = try await room.chat.restrict("ana", in: "crew", RestrictionRequest(isMute: true, until: until))
            #expect(
                try await room.chat.restrictions(in: "crew", RecordList(limit: 10)).items.map(\.user) == ["ana", "ben"])
            #expect(
                try await room.chat.restrictions(of: "ben", RecordList(limit: 10)).items.map(\.channel) == [
                    "crew", "lobby",
                ])
            room.advance(.seconds(5))
            #expect(try await room.chat.restrictions(in: "crew", RecordList(limit: 10)).items.map(\.user) == ["ben"])
        }
    }

    @Test("are set by operators: not by others, and not by a banned operator")
    func rights() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"], operators: ["ana"])
            let byBen = await #expect(throws: ChatError.self) {
                _ = try await room.chat(of: "ben").restrict("ana", in: "crew", Self.mute)
            }
            #expect(byBen?.slug == "not_operator")
            _ = try await room.chat(of: "ana").restrict("ben", in: "crew", Self.mute)
            _ = try await room.chat.restrict("ana", in: "crew", Self.ban)
            let byAna = await #expect(throws: ChatError.self) {
                try await room.chat(of: "ana").lift(restrictionOf: "ana", in: "crew")
            }
            #expect(byAna?.slug == "not_operator")
        }
    }

    @Test("freeze a channel and unfreeze it, once each")
    func freezing() async throws {
        try await Room.open { room in
            try await room.establish("crew", members: ["ana", "ben"], operators: ["ana"])
            for isFrozen in [true, true, false, false] {
                let channel = try await room.chat(of: "ana").freeze("crew", isFrozen)
                #expect(channel.isFrozen == isFrozen)
                if isFrozen { await #expect(throws: ChatError.self) { try await room.say("x", in: "crew", by: "ben") } }
            }
            try await room.say("free", in: "crew", by: "ben")
            #expect(try await types(told(room)) == ["channel.frozen", "channel.unfrozen", "message.created"])
        }
    }
}
