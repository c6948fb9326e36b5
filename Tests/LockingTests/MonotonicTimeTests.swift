import Locking
import Testing

@Suite("The monotonic clock") struct MonotonicTimeTests {
    @Test("never goes back")
    func order() {
        let first = MonotonicTime.now
        let second = MonotonicTime.now
        #expect(first <= second && first.nanoseconds <= second.nanoseconds)
    }

    @Test("adds delays, which are never negative and at most 100 years")
    func delays() {
        let time = MonotonicTime(nanoseconds: 1_000)
        #expect(time + .nanoseconds(500) == MonotonicTime(nanoseconds: 1_500))
        #expect(time + .seconds(-1) == time && time + .nanoseconds(-1) == time)
        #expect(
            time < time + .seconds(Int64.max) && Duration.seconds(Int64.max).nanoseconds == 3_153_600_000_000_000_000)
        #expect(Duration.seconds(Int64.min).nanoseconds == 0)
    }
}
