import ChatModel
import Testing

@testable import ChatCore

@Suite("Users as whom streams listen") struct RosterTests {
    private func user(_ number: Int) -> UserID { UserID("user\(number)", in: AppID("demo")) }

    @Test("are forgotten when no stream came of it, and kept while one is there")
    func leaving() {
        var roster = Roster()
        let held = (0..<100).map { roster.enter(user($0)) }
        for number in 100..<2000 { _ = roster.enter(user(number)) }
        #expect(roster.size < 300)
        for attendance in held {
            #expect(roster.attendance(of: ExactText(attendance.user.name), in: AppID("demo")) === attendance)
        }
    }
}
