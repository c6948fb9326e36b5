import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

/// A presence store whose entries may time out from the start, and whose reads fail. Counts the checks for timeouts,
/// which wait for a latch.
private struct DistantStore: PresenceStore {
    let checks = Observed(0)
    let latch: Latch
    private let memory = MemoryPresenceStore(limits: Limits())

    init(isOpen: Bool = true) { latch = Latch(isOpen: isOpen) }

    var mayExpire: Bool { true }

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
    func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int] { presenceScopes.map { _ in 0 } }
    func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)] { [] }
    func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID] { [] }
    func isTaken(_ presenceKey: PresenceKey) -> Bool { false }
}

@Suite("The tracker with a presence store that is not in memory") struct DistantPresenceTests {
    private func run(_ store: DistantStore, _ body: (ChatFixture) async throws -> Void) async throws {
        let clock = ManualClock()
        let settings = SQLiteEngineSettings(
            path: ":memory:", limits: Limits(), clock: clock.wallClock, logger: ChatFixture.quiet)
        let house = try await ChatFixture(on: SQLiteEngine(settings), presence: store, clock: clock.wallClock)
        try await house.run { try await body(house) }
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
            let everything = ChannelSet(app: ChatFixture.app, isAll: true)
            let events = try await house.engine.log.events(in: everything, after: .zero, limit: 10)
            #expect(events.items.map(\.type) == ["presence.joined"])
        }
    }
}
