import ChatCore
import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import TestSupport
import Testing

/// A presence store whose entries may time out from the start. Counts the checks for timeouts.
private struct ExpiringStore: PresenceStore {
    let checks = Observed(0)
    private let memory = MemoryPresenceStore(limits: Limits())

    var mayExpire: Bool { true }

    func expire() async throws(ChatError) -> [PresenceChange] {
        checks.increment()
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
    ) async throws(ChatError) -> Occupancy { Occupancy(count: 0) }
    func occupant(_ presenceKey: PresenceKey) async throws(ChatError) -> Occupancy.Occupant? { nil }
    func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int] { presenceScopes.map { _ in 0 } }
    func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)] { [] }
    func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID] { [] }
    func isTaken(_ presenceKey: PresenceKey) -> Bool { false }
}

@Suite("The timer of presence") struct PresenceTimerTests {
    @Test("checks for timeouts before the first request, because entries of other nodes may end")
    func start() async throws {
        let store = ExpiringStore()
        let clock = ManualClock()
        let settings = SQLiteEngineSettings(
            path: ":memory:", limits: Limits(), clock: clock.wallClock, logger: ChatFixture.quiet)
        let house = try await ChatFixture(on: SQLiteEngine(settings), presence: store, clock: clock.wallClock)
        try await house.run { #expect(await store.checks.wait { $0 >= 2 } != nil) }
    }
}
