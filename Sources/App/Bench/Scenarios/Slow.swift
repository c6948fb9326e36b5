import Locking

extension Bench {
    /// Adds a reader that reads one byte per second. Measures the effect of this slow reader on the other readers, and
    /// checks that the slow reader finally receives every event.
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

    /// Publishes without measuring until the kernel's buffer for a socket (`tcp_wmem`, usually 4 MiB) and a reasonable
    /// buffer of the server are exceeded.
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

    /// Reads everything that the slow stream has received. If nothing arrives although more was published, checks
    /// whether the connection still exists: the kernel drops the unread data of a closed connection without a
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
