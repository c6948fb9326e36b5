import ChatModel
import Testing

@Suite("A civil date") struct CivilDateTests {
    @Test(
        "is the expected day",
        arguments: [
            (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (2100, 2, 28, 47_540),
            (2100, 3, 1, 47_541), (9999, 12, 31, 2_932_896), (1, 1, 1, -719_162),
        ])
    func days(_ year: Int, _ month: Int, _ day: Int, _ days: Int) throws {
        #expect(try #require(CivilDate(year: year, month: month, day: day)).daysSince1970 == days)
    }

    @Test("is restored from its number, for every day of eight centuries")
    func roundTrip() {
        for days in stride(from: 0, to: 292_194, by: 1) {
            let date = CivilDate(daysSince1970: days)
            guard CivilDate(year: date.year, month: date.month, day: date.day)?.daysSince1970 == days else {
                Issue.record("day \(days) is \(date)")
                return
            }
        }
    }

    @Test(
        "is refused when the calendar does not have it",
        arguments: [(2023, 2, 29), (2100, 2, 29), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1), (2024, 1, 0), (0, 1, 1)])
    func refusals(_ year: Int, _ month: Int, _ day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }
}
