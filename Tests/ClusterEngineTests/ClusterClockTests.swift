import ChatModel
import Locking
import StorageCore
import Testing

@testable import ClusterEngine

@Suite("The clock of a node of a cluster")
struct ClusterClockTests {
    private static let start = Timetoken(17_000_000_000_000_000)

    @Test("goes on steadily when the clock of the machine is set", arguments: [-3600, 3600])
    func step(seconds: Int64) {
        let machine = Lock(Self.start)
        let uptime = Lock<UInt64>(5_000_000_000)
        let clock = WallClock.steady(from: WallClock { machine.withLock { $0 } }) { uptime.withLock { $0 } }
        #expect(clock.now == Self.start)
        machine.withLock { $0 = $0.adding(.seconds(seconds)) }
        uptime.withLock { $0 += 2_000_000_000 }
        #expect(clock.now == Self.start.adding(.seconds(2)))
    }

    @Test("follows the clock of the store")
    func follows() {
        let local = Lock(Self.start)
        let clock = ClusterClock(WallClock { local.withLock { $0 } }, followsStore: true)
        local.withLock { $0 = $0.adding(.milliseconds(10)) }
        clock.follow(Self.start.adding(.seconds(3600)), requestedAt: Self.start)
        #expect(clock.now == Self.start.adding(.seconds(3600)).adding(.milliseconds(5)))
    }

    @Test("follows a store that answers slowly, within the duration of the request")
    func slowStore() {
        let local = Lock(Self.start)
        let clock = ClusterClock(WallClock { local.withLock { $0 } }, followsStore: true)
        local.withLock { $0 = $0.adding(.seconds(1)) }
        clock.follow(Self.start.adding(.seconds(3600)), requestedAt: Self.start)
        #expect(clock.now == Self.start.adding(.seconds(3600)))
        // A time that agrees with the clock does not change it.
        clock.follow(Self.start.adding(.seconds(3599)).adding(.milliseconds(500)), requestedAt: Self.start)
        #expect(clock.now == Self.start.adding(.seconds(3600)))
    }
}
