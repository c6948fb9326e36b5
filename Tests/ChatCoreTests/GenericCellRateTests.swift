import ChatModel
import Testing

@Suite("A cell rate") struct GenericCellRateTests {
    private let rate = GenericCellRate(window: 100, cost: 25)

    @Test("passes what fits into its window, then one whenever its cost has passed")
    func takes() {
        var fullAt: UInt64 = 0
        for _ in 0..<4 {
            guard case .consumed(let next) = rate.consume(fullAt: fullAt, at: 1_000) else {
                Issue.record("a unit was there")
                return
            }
            fullAt = next
        }
        #expect(rate.consume(fullAt: fullAt, at: 1_000) == .wait(25))
        #expect(rate.next(fullAt: fullAt) == 1_025)
        #expect(rate.consume(fullAt: fullAt, at: 1_025) == .consumed(fullAt: 1_125))
        #expect(rate.missing(fullAt: fullAt, at: 1_025) == 75)
    }

    @Test("never takes more than the window holds, and takes units back")
    func extremes() {
        #expect(rate.consume(4, fullAt: 0, at: 1_000) == .consumed(fullAt: 1_100))
        for count in [5, 50, .max] { #expect(rate.consume(count, fullAt: 0, at: 1_000) == .wait(.max)) }
        #expect(rate.returned(1, fullAt: 1_100) == 1_075 && rate.returned(50, fullAt: 20) == 0)
        #expect(rate.consume(0, fullAt: 0, at: 1_000) == .consumed(fullAt: 1_000))
    }

    @Test("starts anew after the clock was set back")
    func clock() {
        #expect(rate.consume(fullAt: 5_000, at: 1_000) == .consumed(fullAt: 1_025))
        #expect(rate.spent(fullAt: 5_000, at: 1_000) == 1_025)
        #expect(rate.missing(fullAt: 5_000, at: 1_000) == 0)
    }

    @Test("passes one at a time when one costs the whole window")
    func slow() {
        let slow = GenericCellRate(window: 100, cost: 400)
        #expect(slow.window == 400 && slow.next(fullAt: 0) == 0)
        let fullAt = slow.spent(fullAt: 0, at: 1_000)
        #expect(fullAt == 1_400 && slow.next(fullAt: fullAt) == 1_400)
        #expect(GenericCellRate(window: 0, cost: 0) == GenericCellRate(window: 1, cost: 1))
    }
}
