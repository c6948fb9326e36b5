import ChatModel

/// The results of the recent attempts of one webhook, in a fixed amount of memory. Performs no I/O.
struct AttemptStatistics: Sendable {
    /// The counts of one time interval.
    struct Tally: Sendable {
        var delivered = 0
        var failed = 0
        /// The number of attempts by duration: up to 1 ms, 2 ms, 4 ms and so on. The last count has no upper bound.
        var durations = [UInt32](repeating: 0, count: 17)

        var attempts: Int { delivered + failed }

        mutating func add(isDelivered: Bool, milliseconds: Int) {
            if isDelivered { delivered += 1 } else { failed += 1 }
            let bucket = Int.bitWidth - max(milliseconds - 1, 0).leadingZeroBitCount
            durations[min(bucket, durations.count - 1)] &+= 1
        }

        mutating func add(_ other: Tally) {
            delivered += other.delivered
            failed += other.failed
            for index in durations.indices { durations[index] &+= other.durations[index] }
        }

        /// The duration, in milliseconds, that the given share of attempts did not exceed. It is rounded up to a power
        /// of two. Nil when there are no attempts.
        func milliseconds(ofShare share: Double) -> Int? {
            guard attempts > 0 else { return nil }
            var rest = Double(attempts) * share
            for (bucket, count) in durations.enumerated() {
                rest -= Double(count)
                if rest <= 0 { return 1 << bucket }
            }
            return 1 << (durations.count - 1)
        }
    }

    /// The counts of the latest time intervals of one length. The oldest interval is overwritten.
    private struct Ring: Sendable {
        let seconds: UInt64
        private var tallies: [(interval: UInt64, tally: Tally)]

        init(seconds: UInt64, count: Int) {
            self.seconds = seconds
            tallies = Array(repeating: (0, Tally()), count: count)
        }

        private func interval(of moment: Timetoken) -> UInt64 { moment.rawValue / Timetoken.ticksPerSecond / seconds }

        mutating func add(at now: Timetoken, isDelivered: Bool, milliseconds: Int) {
            let interval = interval(of: now)
            let index = Int(interval % UInt64(tallies.count))
            // The counts are changed in place, because a copy of a tally copies its array.
            if tallies[index].interval != interval { tallies[index] = (interval, Tally()) }
            tallies[index].tally.add(isDelivered: isDelivered, milliseconds: milliseconds)
        }

        func sum(at now: Timetoken) -> Tally {
            let interval = interval(of: now)
            return tallies.reduce(into: Tally()) { sum, entry in
                if entry.interval <= interval, entry.interval + UInt64(tallies.count) > interval {
                    sum.add(entry.tally)
                }
            }
        }
    }

    private var minutes = Ring(seconds: 60, count: 5)
    private var quarters = Ring(seconds: 900, count: 4)
    private var hours = Ring(seconds: 3600, count: 24)
    private(set) var lastSuccess: Timetoken?
    private(set) var lastFailure: Timetoken?

    mutating func record(at now: Timetoken, isDelivered: Bool, milliseconds: Int) {
        minutes.add(at: now, isDelivered: isDelivered, milliseconds: milliseconds)
        quarters.add(at: now, isDelivered: isDelivered, milliseconds: milliseconds)
        hours.add(at: now, isDelivered: isDelivered, milliseconds: milliseconds)
        if isDelivered { lastSuccess = now } else { lastFailure = now }
    }

    /// The names and lengths of the windows.
    static let windows: [(name: String, seconds: Int)] = [("5m", 300), ("1h", 3600), ("24h", 86_400)]

    /// The counts of the last five minutes, the last hour and the last day, including the current interval.
    func windows(at now: Timetoken) -> [Tally] { [minutes.sum(at: now), quarters.sum(at: now), hours.sum(at: now)] }
}
