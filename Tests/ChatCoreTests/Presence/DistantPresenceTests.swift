import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

/// A presence store whose entries may time out from the start, and whose lists of users fail. It takes every user for
/// present, as a node may after a departure on another node. Counts the rounds, and the checks for timeouts, which wait
/// for a latch.
private struct DistantStore: PresenceStore {
    let checks = Observed(0)
    let rounds = Observed(0)
    /// The number of users on each channel.
    static let count = 7
    let latch: Latch
    private let memory = MemoryPresenceStore(limits: Limits())

    init(isOpen: Bool = true) { latch = Latch(isOpen: isOpen) }

    var mayExpire: Bool { true }
    var hasOtherNodes: Bool { true }

    func beginRound() async { rounds.increment() }

    func expire() async throws(ChatError) -> [PresenceChange] {
        checks.increment()
        await latch.pass()
        return []
    }

    func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange] { try await memory.hold(presenceKeys, of: user, by: holder) }
    func renew(_ presenceKeys: [PresenceKey], for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        try await memory.renew(presenceKeys, for: duration)
    }
    func disconnect(_ holder: HolderID, grace: Duration) async throws(ChatError) {}
    func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange] { [] }
    func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange] { [] }
    func leave(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceChange] { [] }
    func setState(_ state: JSONText?, of presenceKey: PresenceKey) async throws(ChatError) -> [PresenceChange] { [] }
    func occupants(
        of presenceScope: PresenceScope, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy { throw ChatError(.unavailable, "no store") }
    func occupant(_ presenceKey: PresenceKey) async throws(ChatError) -> Occupancy.Occupant? { nil }
    func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int] {
        presenceScopes.map { _ in Self.count }
    }
    func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)] { [] }
    func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID] { [] }
    func isTaken(_ presenceKey: PresenceKey) -> Bool { true }
}

@Suite("The tracker with a presence store that is not in memory") struct DistantPresenceTests {
    private func run(
        _ store: DistantStore, limits: Limits = Limits(), clock: ManualClock = ManualClock(),
        _ body: (ChatFixture) async throws -> Void
    ) async throws {
        let settings = SQLiteEngineSettings(
            path: ":memory:", limits: limits, clock: clock.wallClock, logger: ChatFixture.quiet)
        let house = try await ChatFixture(
            on: SQLiteEngine(settings), presence: store, limits: limits, clock: clock.wallClock)
        try await house.run { try await body(house) }
    }

    private func events(_ house: ChatFixture) async throws -> [Event] {
        let everything = ChannelSet(app: ChatFixture.app, isAll: true)
        return try await house.engine.log.events(in: everything, after: .zero, limit: 10).items
    }

    @Test("checks for timeouts before the first request, because entries of other nodes may end")
    func start() async throws {
        let store = DistantStore()
        try await run(store) { _ in #expect(await store.checks.wait { $0 >= 2 } >= 2) }
    }

    @Test("does not queue further checks for timeouts while one waits")
    func slowCheck() async throws {
        let store = DistantStore(isOpen: false)
        try await run(store) { house in
            await store.checks.wait { $0 == 1 }
            for _ in 0..<1000 { house.service.presence.checkChanges() }
            store.latch.open()
            try await house.service.presence.tick()
            #expect(store.checks.value < 100)
        }
    }

    @Test("reports the other changes of a request when the typing users cannot be read")
    func failedRead() async throws {
        try await run(DistantStore()) { house in
            let channel = ChannelID("room", in: ChatFixture.app)
            let keys = [
                PresenceKey(.typingUser, of: "ana", on: channel), PresenceKey(.occupant, of: "ben", on: channel),
            ]
            try await house.service.presence.perform { store throws(ChatError) in
                try await store.renew(keys, for: .seconds(10))
            }
            #expect(try await events(house).map(\.type) == ["presence.joined"])
        }
    }

    @Test("announces all requests that wait as one round")
    func rounds() async throws {
        let store = DistantStore(isOpen: false)
        try await run(store) { house in
            await store.checks.wait { $0 == 1 }
            let before = store.rounds.value
            for number in 0..<1000 {
                let user = UserID("user\(number)", in: ChatFixture.app)
                house.service.presence.opened(HolderID("page\(number)"), of: user, presentOn: ["room"])
            }
            store.latch.open()
            try await house.service.presence.tick()
            #expect(store.rounds.value - before < 100)
        }
    }

    @Test("returns from a poll of a user who may have left on another node after the event of the join")
    func pollAfterDeparture() async throws {
        try await run(DistantStore()) { house in
            let chat = house.service.chat(for: ChatFixture.owner, device: "desk", cause: "req_1")
            try await chat.appear("ana", onAll: ["room"], for: .seconds(300), by: HolderID("poll"))
            #expect(try await events(house).map(\.type) == ["presence.joined"])
        }
    }

    @Test("summarizes a busy channel with the count at the time of the summary, to which other nodes contribute")
    func countOfInterval() async throws {
        var limits = Limits()
        limits.announcedOccupants = 0
        let clock = ManualClock()
        try await run(DistantStore(), limits: limits, clock: clock) { house in
            let presence = house.service.presence
            presence.opened(HolderID("page"), of: UserID("ana", in: ChatFixture.app), presentOn: ["room"])
            try await presence.tick()
            clock.advance(by: limits.presenceInterval)
            try await presence.tick()
            let events = try await events(house)
            #expect(events.map(\.type) == ["presence.interval"])
            #expect(
                events.first?.data.description
                    == #"{"occupancy":\#(DistantStore.count),"joined":["ana"],"left":[],"timed_out":[]}"#)
        }
    }
}
