import Locking

extension Bench {
    /// Runs one reader that reads one byte per second: measures its effect on the others, and checks that it receives
    /// every event in the end.
    static func runSlow(_ plan: BenchPlan, _ result: inout BenchResult) throws(BenchFailure) {
        let slow = plan.streams
        let driver = try Driver(plan, streams: plan.streams + 1, resumable: slow..<(slow + 1))
        driver.ledger.timed = 0..<slow
        try driver.open(0..<slow)
        try driver.publish(seconds: Double(plan.warmUpSeconds))
        try driver.drain()
        driver.ledger.latency.reset()
        try driver.publish(seconds: Double(plan.seconds))
        try driver.drain()
        result.add("without_ms", driver.ledger.latency.measurement)

        driver.streams.slots[slow].hasSmallBuffer = true
        try driver.open(slow..<(slow + 1))
        driver.streams.setSlow(slow, true)
        let interval = Interval(driver)
        try publishSlowly(driver, slow)
        result.add("with_ms", driver.ledger.latency.measurement)
        interval.report(to: &result)

        try publishEnough(driver)
        driver.streams.slots[slow].hasSmallBuffer = false
        driver.streams.isReturning = true
        driver.streams.setSlow(slow, false)
        try readUntilStill(driver, slow)
        try driver.drain()
        result.add("slow_was_closed", .flag(driver.streams.cut > 0))
        result.add("slow_received", .count(driver.streams.slots[slow].received))
        driver.addMemory(to: &result)
        driver.addVerdict(to: &result)
        result.isClean = result.isClean && driver.streams.cut > 0
    }

    /// Continues, unmeasured, until more was published than the kernel buffers for a socket (`tcp_wmem`, usually 4 MiB)
    /// and a server should buffer in addition.
    private static func publishEnough(_ driver: Driver) throws(BenchFailure) {
        let events = 8 * 1_048_576 / (driver.plan.payloadBytes + 150)
        let deadline = MonotonicTime.now.nanoseconds + 60_000_000_000
        let before = driver.ledger.published(on: 0) - (driver.publishers?.accepted ?? 0)
        driver.startPublishing()
        try driver.turn {
            driver.ledger.published(on: 0) - before >= events || MonotonicTime.now.nanoseconds > deadline
        }
        driver.stopPublishing()
    }

    /// Reads everything that the slow stream has received. When nothing more arrives although more was published, it
    /// checks that the connection still exists: the kernel drops a closed connection's unread data without a
    /// notification.
    private static func readUntilStill(_ driver: Driver, _ slow: Int) throws(BenchFailure) {
        var last = (driver.streams.slots[slow].received, MonotonicTime.now.nanoseconds)
        try driver.turn {
            let received = driver.streams.slots[slow].received
            if received != last.0 { last = (received, MonotonicTime.now.nanoseconds) }
            return driver.ledger.outstanding <= 0 || MonotonicTime.now.nanoseconds > last.1 + 3_000_000_000
        }
        if driver.ledger.outstanding > 0 { driver.streams.knock(slow) }
    }

    private static func publishSlowly(_ driver: Driver, _ slow: Int) throws(BenchFailure) {
        driver.startPublishing()
        let end = MonotonicTime.now.nanoseconds + UInt64(driver.plan.seconds) * 1_000_000_000
        var nextByteAt = MonotonicTime.now.nanoseconds
        try driver.turn {
            let now = MonotonicTime.now.nanoseconds
            if now >= nextByteAt, driver.streams.slots[slow].phase == .open {
                driver.streams.read(slow, atMost: 1)
                nextByteAt += 1_000_000_000
            }
            return now >= end
        }
        driver.stopPublishing()
    }
}
