import Locking

extension Bench {
    /// The time for which the disconnected streams stay disconnected, in seconds.
    private static let awaySeconds = 2.0

    /// Disconnects most streams at the same time while events continue. All of them then reconnect with their cursors.
    /// Measures the time of the reconnects, and the effect on the streams that stayed connected.
    static func runStorm(_ plan: BenchPlan, _ result: inout BenchResult) throws(BenchFailure) {
        let cut = 0..<plan.streams
        let all = plan.streams + plan.watchers
        let driver = try Driver(plan, streams: all, resumable: cut)
        driver.ledger.timed = plan.streams..<all
        try driver.open(0..<all)
        try driver.serveFirst(plan.streams..<all)
        try driver.publish(seconds: Double(plan.warmUpSeconds))
        driver.ledger.latency.reset()
        try driver.publish(seconds: Double(plan.seconds))
        result.add("watchers", .count(plan.watchers))
        result.add("before_ms", driver.ledger.latency.measurement)

        driver.streams.cut(cut)
        try driver.publish(seconds: awaySeconds)
        driver.streams.setGoals(cut, driver.ledger.published(on:))
        let missed = driver.streams.unfinished
        let interval = Interval(driver)
        driver.streams.open(cut)
        driver.startPublishing()
        let deadline = MonotonicTime.now.nanoseconds + 60_000_000_000
        try driver.turn {
            driver.streams.connectMore()
            return driver.streams.unfinished == 0 || MonotonicTime.now.nanoseconds > deadline
        }
        result.add("resumed", .count(missed - driver.streams.unfinished))
        result.add("complete_ms", driver.streams.completion.measurement)
        result.add("during_ms", driver.ledger.latency.measurement)
        driver.stopPublishing()
        try driver.drain()
        interval.report(to: &result)
        driver.addMemory(to: &result)
        driver.addVerdict(to: &result)
    }
}
