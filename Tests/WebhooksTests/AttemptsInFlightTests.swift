import ChatModel
import TestSupport
import Testing

@testable import Webhooks

@Suite("The attempts in flight", .timeLimit(.minutes(1))) struct AttemptsInFlightTests {
    private static func lease(_ fence: UInt64, of app: String = "app", attempt: UInt64? = nil) -> Lease {
        let delivery = Delivery(
            id: "dlv_\(fence)", subscriber: SubscriberID("wh_1", in: AppID(app)), event: Timetoken(fence),
            type: "message.created", channel: "room", status: .pending, attempts: 0, due: nil)
        return Lease(delivery: delivery, fence: fence, body: nil, attempt: attempt)
    }

    @Test("hold all the bytes that posts of several events may take, of one app seven eighths")
    func bytes() {
        let attempts = AttemptsInFlight(bytes: 16)
        let leases = (1...20).map { Self.lease($0) } + [Self.lease(21, of: "other")]
        #expect(attempts.begin(leases))
        #expect(leases[..<20].count { attempts.reserve(1, for: $0) } == 14)
        #expect(attempts.reserve(1, for: leases[20]))
        #expect(!attempts.reserve(1, for: leases[19]) && attempts.reserve(0, for: leases[19]), "one event needs none")
        attempts.end(leases[..<20])
        #expect(attempts.begin(Array(leases[..<20])))
        #expect(leases[..<20].count { attempts.reserve(1, for: $0) } == 13)
    }

    @Test("give their bytes back with the last lease, and what a post does not need before")
    func release() {
        let attempts = AttemptsInFlight(bytes: 8)
        let (first, second, other) = (Self.lease(1, attempt: 1), Self.lease(2, attempt: 1), Self.lease(3))
        #expect(attempts.begin([first, second, other]) && attempts.reserve(7, for: first))
        attempts.end([first])
        #expect(attempts.count == 2 && !attempts.reserve(4, for: other))
        attempts.shrink(to: 3, for: second)
        attempts.shrink(to: 5, for: second)
        #expect(attempts.reserve(4, for: other))
        attempts.end([second, first, second])
        #expect(attempts.count == 1, "a lease ends once")
        attempts.end([other])
        #expect(attempts.begin([first]) && attempts.reserve(7, for: first))
    }

    @Test("are renewed with every lease that they still hold")
    func renewal() {
        let attempts = AttemptsInFlight(bytes: 0)
        #expect(attempts.begin([Self.lease(1, attempt: 1), Self.lease(2, attempt: 1), Self.lease(3)]))
        attempts.end([Self.lease(2, attempt: 1)])
        #expect(Set(attempts.heldAtLeast(.zero).map(\.fence)) == [1, 3])
        #expect(attempts.heldAtLeast(.seconds(3600)).isEmpty)
    }

    @Test("let every task that waits go on when the last one has ended, and none begins afterwards")
    func drain() async {
        let attempts = AttemptsInFlight(bytes: 0)
        let leases = (1...200).map { Self.lease($0) }
        #expect(attempts.begin(leases))
        await withDiscardingTaskGroup { group in
            for _ in 0..<20 { group.addTask { await attempts.drain() } }
            for lease in leases { group.addTask { attempts.end([lease]) } }
        }
        #expect(attempts.count == 0 && attempts.isDraining && !attempts.begin(leases))
    }

    @Test("do not keep a task waiting that is cancelled")
    func cancelled() async {
        let attempts = AttemptsInFlight(bytes: 0)
        #expect(attempts.begin([Self.lease(1)]))
        let waiting = Task { await attempts.drain() }
        waiting.cancel()
        await waiting.value
        #expect(attempts.count == 1)
    }
}
