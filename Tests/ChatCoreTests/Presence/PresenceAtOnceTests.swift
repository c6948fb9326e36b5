import ChatCore
import ChatModel
import Testing

@Suite("The presence store in memory, without waiting,") struct PresenceAtOnceTests {
    private let store = MemoryPresenceStore(limits: Limits())
    private let user = UserID("ana", in: AppID("shop"))
    private let key = PresenceKey(.occupant, of: "ana", on: ChannelID("hall", in: AppID("shop")))

    @Test("holds only the keys of users who are present") func hold() async throws {
        #expect(!store.holdAtOnce([key], of: user, by: HolderID("first")))
        #expect(!store.isTaken(key))
        _ = try await store.hold([key], of: user, by: HolderID("first"))
        #expect(store.holdAtOnce([key], of: user, by: HolderID("second")))
        // The second connection keeps the user present after the first has ended.
        #expect(try await store.release(nil, by: HolderID("first")).isEmpty)
        #expect(try await store.release(nil, by: HolderID("second")).count == 1)
    }

    @Test("concludes a connection only if its user stays present for a time") func conclude() async throws {
        _ = try await store.hold([key], of: user, by: HolderID("poll"))
        #expect(!store.concludeAtOnce(HolderID("poll"), for: .zero))
        #expect(store.concludeAtOnce(HolderID("poll"), for: .seconds(10)))
        #expect(store.isTaken(key))
        #expect(store.mayExpire)
        #expect(try await store.release(nil, by: HolderID("poll")).isEmpty)
    }
}
