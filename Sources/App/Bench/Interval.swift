import CLinux
import Glibc
import Locking

/// Measures one interval of time: the published and delivered events, and the server's CPU time and memory.
struct Interval {
    private let driver: Driver
    private let cpu: UInt64
    private let user: UInt64
    private let own: UInt64
    private let delivered: Int
    private let start: UInt64

    /// Starts an interval with empty histograms.
    init(_ driver: Driver) {
        self.driver = driver
        driver.ledger.latency.reset()
        driver.publishers?.reset()
        delivered = driver.ledger.delivered
        user = driver.meter.userNanoseconds
        cpu = driver.meter.cpuNanoseconds
        own = Self.ownNanoseconds
        start = MonotonicTime.now.nanoseconds
    }

    private static var ownNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    var published: Int { driver.publishers?.accepted ?? 0 }
    /// The CPU time of the measured processes since the start of the interval.
    var cpuNanoseconds: UInt64 { driver.meter.cpuNanoseconds - cpu }
    var deliveries: Int { driver.ledger.delivered - delivered }

    /// Ends the interval and adds its measurements to a result.
    func report(to result: inout BenchResult) {
        let cpu = cpuNanoseconds
        let user = driver.meter.userNanoseconds - user
        let own = Self.ownNanoseconds - own
        let end = MonotonicTime.now.nanoseconds
        let seconds = Double(end - start) / 1e9
        result.add("seconds", .number(seconds))
        result.add("published", .count(published))
        result.add("delivered", .count(deliveries))
        result.add("publishes_per_second", .number(Double(published) / seconds))
        result.add("deliveries_per_second", .number(Double(deliveries) / seconds))
        if !driver.meter.processes.isEmpty {
            result.add("cpu_seconds", .number(Double(cpu) / 1e9))
            if published > 0 { result.add("cpu_us_per_publish", .number(Double(cpu) / 1e3 / Double(published))) }
            if deliveries > 0 {
                result.add("cpu_us_per_delivery", .number(Double(cpu) / 1e3 / Double(deliveries)))
                result.add("user_us_per_delivery", .number(Double(user) / 1e3 / Double(deliveries)))
            } else if published > 0 {
                result.add("user_us_per_publish", .number(Double(user) / 1e3 / Double(published)))
            }
        }
        result.add("driver_cpu_seconds", .number(Double(own) / 1e9))
        if published > 0, let publishers = driver.publishers {
            result.add("publish_ms", publishers.acknowledgement.measurement)
        }
        if deliveries > 0 { result.add("delivery_ms", driver.ledger.latency.measurement) }
    }
}
