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

    @Test("holds nothing for a user who is absent from one of the channels") func absent() async throws {
        let other = PresenceKey(.occupant, of: "ana", on: ChannelID("yard", in: AppID("shop")))
        _ = try await store.hold([key], of: user, by: HolderID("first"))
        #expect(!store.holdAtOnce([key, other], of: user, by: HolderID("second")))
        #expect(!store.isTaken(other))
        // The second connection does not keep the user present.
        #expect(try await store.release(nil, by: HolderID("first")).count == 1)
        #expect(!store.isTaken(key))
    }

    @Test("registers a connection without channels, which keeps its user inside open channels")
    func noKeys() async throws {
        let inside = PresenceKey(.participant, of: "ana", on: ChannelID("hall", in: AppID("shop")))
        _ = try await store.renew([inside], for: .seconds(10))
        #expect(store.holdAtOnce([], of: user, by: HolderID("page")))
        #expect(store.isTaken(inside))
        // The heartbeat counts no longer, so the user leaves with the connection.
        #expect(try await store.release(nil, by: HolderID("page")).map(\.happening) == [.left])
    }

    @Test("holds keys for polls with names of their own") func polls() {
        let names = Set((0..<100).map { _ in HolderID.ofPoll() })
        #expect(names.count == 100)
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
