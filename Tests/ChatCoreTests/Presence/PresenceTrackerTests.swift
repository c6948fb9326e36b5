import ChatModel
import JSON
import Testing

@testable import ChatCore

private let presence = NamePattern.below("presence.")

@Suite("Presence") struct PresenceTrackerTests {
    @Test("announces one arrival and one departure of a user with two devices")
    func twoDevices() async throws {
        try await PresenceHouse.run { house in
            house.tracker.opened(HolderID("phone"), of: house.user("ana"), presentOn: ["room"])
            house.tracker.opened(HolderID("desk"), of: house.user("ana"), presentOn: ["room"])
            house.tracker.closed(HolderID("phone"))
            #expect(try await house.story(presence) == ["presence.joined ana"])
            house.tracker.closed(HolderID("desk"))
            #expect(try await house.story(presence) == ["presence.joined ana", "presence.left ana"])
            let events = try await house.events(presence)
            #expect(
                events.map(\.data.description) == [
                    #"{"user":{"id":"ana"},"occupancy":1}"#, #"{"user":{"id":"ana"},"occupancy":0}"#,
                ])
            #expect(events.allSatisfy { $0.kind == .presence && $0.retention == .passing && $0.channel.name == "room" })
        }
    }

    @Test("announces nothing for a reloaded page, and one timeout for a page that stays away")
    func grace() async throws {
        try await PresenceHouse.run { house in
            house.tracker.opened(HolderID("page1"), of: house.user("ana"), presentOn: ["room"])
            house.tracker.disconnected(HolderID("page1"))
            try await house.pass(.seconds(29))
            house.tracker.opened(HolderID("page2"), of: house.user("ana"), presentOn: ["room"])
            try await house.pass(.seconds(29))
            house.tracker.disconnected(HolderID("page2"))
            try await house.pass(.seconds(29))
            #expect(try await house.story(presence) == ["presence.joined ana"])
            try await house.pass(.seconds(1))
            #expect(try await house.story(presence) == ["presence.joined ana", "presence.timed_out ana"])
            #expect(try await house.events(presence).map(\.user) == ["ana", nil])
        }
    }

    @Test("removes a user from the channels that a stream no longer follows")
    func narrowed() async throws {
        try await PresenceHouse.run { house in
            house.tracker.opened(HolderID("page"), of: house.user("ana"), presentOn: ["a", "b"])
            house.tracker.narrowed(HolderID("page"), of: house.user("ana"), without: ["a"])
            let told = try await house.events(presence).map { "\($0.type) \($0.channel)" }
            #expect(told == ["presence.joined a", "presence.joined b", "presence.left a"])
            #expect(house.tracker.isPresent("ana", house.channel("b")))
            #expect(!house.tracker.isPresent("ana", house.channel("a")))
        }
    }

    @Test("collects the changes of a busy channel, and announces them together at intervals")
    func intervals() async throws {
        var limits = Limits()
        limits.announcedOccupants = 2
        try await PresenceHouse.run(limits: limits) { house in
            for user in ["ana", "ben", "cy", "dee"] {
                house.tracker.opened(HolderID(user), of: house.user(user), presentOn: ["room"])
            }
            try await house.pass(.seconds(9))
            house.tracker.closed(HolderID("dee"))
            // Announced with the others although only two are left: the third has not been announced yet.
            house.tracker.closed(HolderID("ben"))
            #expect(try await house.story(presence) == ["presence.joined ana", "presence.joined ben"])
            try await house.pass(.seconds(1))
            let told = try await house.events(presence)
            #expect(told.map(\.type) == ["presence.joined", "presence.joined", "presence.interval"])
            #expect(told[2].data.description == #"{"occupancy":2,"joined":["cy"],"left":["ben"],"timed_out":[]}"#)
            house.tracker.closed(HolderID("cy"))
            try await house.pass(.seconds(60))
            #expect(try await house.story(presence).dropFirst(3) == ["presence.left cy"])
        }
    }

    @Test("announces nothing for a busy channel without a net change")
    func quietInterval() async throws {
        var limits = Limits()
        limits.announcedOccupants = 0
        try await PresenceHouse.run(limits: limits) { house in
            house.tracker.opened(HolderID("page"), of: house.user("ana"), presentOn: ["room"])
            house.tracker.closed(HolderID("page"))
            try await house.pass(.seconds(10))
            #expect(try await house.story(presence).isEmpty)
        }
    }

    @Test("announces thousands on one channel in a few events, and on many channels in one arrival and departure each")
    func storm() async throws {
        try await PresenceHouse.run { house in
            let count = 8000
            let users = (0..<count).map { "user\($0)" }
            for user in users {
                house.tracker.opened(HolderID(user), of: house.user(user), presentOn: ["lobby", "own.\(user)"])
            }
            try await house.pass(.seconds(10))
            #expect(
                try await house.tracker.store.counts(of: [PresenceScope(.occupant, house.channel("lobby"))]) == [count])
            for user in users { house.tracker.disconnected(HolderID(user)) }
            try await house.pass(.seconds(30))
            try await house.pass(.seconds(10))
            let events = try await house.events()
            var stays: [String: [String]] = [:]
            for event in events where event.channel.name != "lobby" {
                stays[event.channel.name, default: []].append(event.type)
            }
            #expect(stays.count == count)
            #expect(stays.values.allSatisfy { $0 == ["presence.joined", "presence.timed_out"] })
            let lobby = events.filter { $0.channel.name == "lobby" }
            #expect(lobby.count(where: { $0.type == "presence.joined" }) == 20)
            #expect(lobby.count(where: { $0.type == "presence.interval" }) == 2)
            #expect(lobby.count == 22)
        }
    }
}
