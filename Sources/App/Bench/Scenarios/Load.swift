import Locking

extension Bench {
    /// Runs a scenario that opens streams, warms up and then publishes for a fixed time. Used for all scenarios that
    /// differ only in the sizes of their plans.
    static func runLoad(_ plan: BenchPlan, _ result: inout BenchResult) throws(BenchFailure) {
        let driver = try Driver(plan)
        let beforeOpening = driver.meter.cpuNanoseconds
        try driver.open(0..<plan.streams)
        if !plan.processes.isEmpty, plan.streams > 0 {
            let used = Double(driver.meter.cpuNanoseconds - beforeOpening) / 1e3
            result.add("cpu_us_per_subscribe", .number(used / Double(plan.streams)))
        }
        if plan.warmUpSeconds > 0 {
            try driver.publish(seconds: Double(plan.warmUpSeconds))
            try driver.drain()
        }
        driver.resetMemory()
        let interval = Interval(driver)
        try driver.publish(seconds: Double(plan.seconds))
        try driver.drain()
        interval.report(to: &result)
        driver.addMemory(to: &result)
        driver.addVerdict(to: &result)
    }

    /// Measures the memory of streams. The server must have been started for this run, because earlier streams leave
    /// free memory that new streams use. The first sample is taken after a sixteenth of the streams, so that code that
    /// the first stream loads does not count as memory per stream.
    static func runIdle(_ plan: BenchPlan, _ result: inout BenchResult) throws(BenchFailure) {
        let driver = try Driver(plan, hasPublishers: false)
        let first = plan.streams / 16
        try driver.open(0..<first)
        let before = (memory: driver.meter.memoryBytes, cpu: driver.meter.cpuNanoseconds)
        try driver.open(first..<plan.streams)
        let opened = (memory: driver.meter.memoryBytes, cpu: driver.meter.cpuNanoseconds)
        try driver.rest(milliseconds: plan.seconds * 1_000)
        let streams = Double(max(1, plan.streams - first))
        if !plan.processes.isEmpty {
            if before.memory > 0 {
                result.add("memory_bytes_per_stream", .number(Double(opened.memory - before.memory) / streams))
            }
            result.add("cpu_us_per_subscribe", .number(Double(opened.cpu - before.cpu) / 1e3 / streams))
            let idle = Double(driver.meter.cpuNanoseconds - opened.cpu) / 1e6
            result.add("cpu_ms_per_idle_second", .number(idle / Double(plan.seconds)))
        }
        driver.addMemory(to: &result)
        driver.addVerdict(to: &result)
    }
}

extension Driver {
    func addMemory(to result: inout BenchResult) {
        guard memory.first > 0 else { return }
        result.add(
            "memory_bytes",
            .group([
                Measurement.Named(name: "first", measurement: .count(memory.first)),
                Measurement.Named(name: "last", measurement: .count(memory.last)),
                Measurement.Named(name: "peak", measurement: .count(memory.peak)),
            ]))
    }

    /// Adds the error counts of the run to a result: lost and repeated events, closed streams and failed requests. Sets
    /// `isClean` to false if an event was not delivered once and in order.
    func addVerdict(to result: inout BenchResult) {
        result.add("lost", .count(ledger.lost))
        result.add("duplicates", .count(ledger.duplicates))
        result.add("misordered", .count(ledger.misordered))
        result.add("regressions", .count(ledger.regressions))
        result.add("misdirected", .count(ledger.misdirected))
        result.add("cut", .count(streams.cut))
        result.add("turned_away", .count(streams.turnedAway))
        if let publishers {
            result.add("refused", .count(publishers.refused))
            if publishers.refused > 0 { result.add("refused_with", .count(publishers.lastRefusal)) }
            result.add("broken", .count(publishers.broken))
        }
        result.isClean = result.isClean && ledger.isClean
    }
}
