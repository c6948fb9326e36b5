import ChatModel
import Locking
import TestSupport
import Testing

@testable import Webhooks

@Suite("A circuit breaker") struct CircuitBreakerTests {
    private static let start = WebhookFixture.start
    private static func after(_ seconds: Int) -> Timetoken { start.adding(.seconds(seconds)) }

    private static func fail(
        _ breaker: inout CircuitBreaker, _ times: Int = 1, begun: Timetoken = start, at now: Timetoken = start,
        retryAfter: Duration? = nil, isSlow: Bool = false, draw: Double = 0.5
    ) {
        for _ in 0..<times {
            breaker.recordFailure(begun: begun, at: now, retryAfter: retryAfter, isSlow: isSlow, draw: draw)
        }
    }

    private static func opened() -> CircuitBreaker {
        var breaker = CircuitBreaker()
        fail(&breaker, CircuitBreaker.failuresTolerated)
        return breaker
    }

    @Test("opens after some failures on end, which a success interrupts")
    func opens() {
        var breaker = CircuitBreaker()
        Self.fail(&breaker, CircuitBreaker.failuresTolerated - 1)
        breaker.recordAnswer()
        Self.fail(&breaker, CircuitBreaker.failuresTolerated - 1)
        #expect(breaker.condition(at: Self.start) == .closed)
        #expect(breaker.pace == CircuitBreaker.LanePacing())
        Self.fail(&breaker)
        #expect(breaker.condition(at: Self.after(9)) == .open)
        #expect(breaker.pace == CircuitBreaker.LanePacing(concurrency: 1, notBefore: Self.after(10)))
        #expect(breaker.condition(at: Self.after(10)) == .halfOpen)
    }

    @Test("waits longer after each attempt that fails, and closes after one that does not")
    func grows() {
        var breaker = Self.opened()
        var now = Self.start
        for pause in [20, 40, 80, 160, 300, 300] {
            now = breaker.openUntil ?? now
            Self.fail(&breaker, begun: now, at: now)
            #expect(breaker.openUntil == now.adding(.seconds(pause)))
        }
        breaker.recordAnswer()
        #expect(breaker.condition(at: now) == .closed && breaker.pace == CircuitBreaker.LanePacing())
        Self.fail(&breaker, CircuitBreaker.failuresTolerated, begun: now, at: now)
        #expect(breaker.openUntil == now.adding(.seconds(10)), "from the start again")
    }

    @Test("ignores attempts from before it opened, except for the pause that a receiver asks for")
    func stragglers() {
        var breaker = Self.opened()
        Self.fail(&breaker, 5, at: Self.after(3))
        #expect(breaker.openUntil == Self.after(10))
        Self.fail(&breaker, at: Self.after(3), retryAfter: .seconds(60))
        #expect(breaker.openUntil == Self.after(63))
        Self.fail(&breaker, at: Self.after(4), retryAfter: .seconds(5))
        #expect(breaker.openUntil == Self.after(63))
    }

    @Test(
        "opens for as long as the receiver asks, within a second and a day",
        arguments: [(0, 1), (7, 7), (900_000, 86_400)])
    func retryAfter(_ row: (asked: Int, given: Int)) {
        var breaker = CircuitBreaker()
        Self.fail(&breaker, CircuitBreaker.failuresTolerated, retryAfter: .seconds(row.asked))
        #expect(breaker.openUntil == Self.after(row.given))
    }

    @Test("spreads its pause by a fifth", arguments: [(0.0, 8), (0.5, 10)])
    func spread(_ row: (draw: Double, seconds: Int)) {
        var breaker = CircuitBreaker()
        Self.fail(&breaker, CircuitBreaker.failuresTolerated, draw: row.draw)
        #expect(breaker.openUntil == Self.after(row.seconds))
    }

    @Test("permits one attempt at a time to a slow receiver, before it opens")
    func slow() {
        var breaker = CircuitBreaker()
        Self.fail(&breaker, 2, isSlow: true)
        #expect(breaker.pace.concurrency == nil)
        Self.fail(&breaker, isSlow: true)
        #expect(breaker.pace == CircuitBreaker.LanePacing(concurrency: 1, notBefore: nil))
        breaker.recordAnswer()
        #expect(breaker.pace == CircuitBreaker.LanePacing(concurrency: 2, notBefore: nil))
    }

    @Test("restores the rate of an overwhelmed receiver step by step, and halves it when it was too high")
    func recovers() {
        var breaker = CircuitBreaker()
        Self.fail(&breaker, 3, isSlow: true)
        var paces: [Int?] = []
        for _ in 0..<15 {
            breaker.recordAnswer()
            if breaker.pace.concurrency != paces.last { paces.append(breaker.pace.concurrency) }
        }
        #expect(paces == [2, 4, 8, 16])
        Self.fail(&breaker, 3, isSlow: true)
        #expect(breaker.pace.concurrency == 8)
        for _ in 0..<(8 + 16 + 32) { breaker.recordAnswer() }
        #expect(breaker.isUntroubled && breaker.pace == CircuitBreaker.LanePacing())
    }

    @Test("notices a receiver that refuses some of many, though it takes the others")
    func mixed() {
        var breaker = CircuitBreaker()
        for _ in 0..<6 {
            breaker.recordAnswer()
            Self.fail(&breaker, 2, isSlow: true)
        }
        #expect(breaker.pace.concurrency == 1)
    }

    @Test("pauses at once for an overwhelmed receiver that names a time, and for no other")
    func asksForTime() {
        var breaker = CircuitBreaker()
        Self.fail(&breaker, retryAfter: .seconds(30))
        #expect(breaker.openUntil == nil)
        Self.fail(&breaker, retryAfter: .seconds(30), isSlow: true)
        #expect(breaker.pace == CircuitBreaker.LanePacing(concurrency: 1, notBefore: Self.after(30)))
        Self.fail(&breaker, at: Self.after(1), retryAfter: .seconds(86_400), isSlow: true)
        #expect(breaker.openUntil == Self.after(301), "a single answer is no reason to wait for a day")
        breaker.recordAnswer()
        #expect(breaker.pace == CircuitBreaker.LanePacing(concurrency: 2, notBefore: nil))
    }
}
