import ChatModel
import Testing

@testable import ChatCore

@Suite("Users of streams") struct ListenerIndexTests {
    private func user(_ number: Int) -> UserID { UserID("user\(number)", in: AppID("demo")) }

    @Test("are removed when no stream opens for them, and kept while one exists")
    func leaving() {
        var listenerIndex = ListenerIndex()
        let held = (0..<100).map { listenerIndex.enter(user($0)) }
        for number in 100..<2000 { _ = listenerIndex.enter(user(number)) }
        #expect(listenerIndex.size < 300)
        for userMemberships in held {
            #expect(
                listenerIndex.userMemberships(of: ExactText(userMemberships.user.name), in: AppID("demo"))
                    === userMemberships)
        }
    }
}
