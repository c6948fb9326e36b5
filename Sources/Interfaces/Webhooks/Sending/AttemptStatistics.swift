import ChatModel

/// The recent results of one webhook's attempts, in a fixed number of bytes. Performs no I/O.
struct AttemptStatistics: Sendable {
    /// The counts of one interval.
    struct Tally: Sendable {
        var delivered = 0
        var failed = 0
        /// Attempts by duration: up to 1 ms, 2 ms, 4 ms and so on; the last one has no bound.
        private var durations = [UInt32](repeating: 0, count: 17)

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

        /// The duration that the given share of attempts did not exceed, rounded up to a power of two; nil without
        /// attempts.
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

    /// Intervals of one length; the oldest is reused.
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
            // Changed in place: copying a tally copies its counts.
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

    /// The last five minutes, hour and day, including the current interval.
    func windows(at now: Timetoken) -> [(name: String, seconds: Int, tally: Tally)] {
        [
            ("5m", 300, minutes.sum(at: now)), ("1h", 3600, quarters.sum(at: now)),
            ("24h", 86_400, hours.sum(at: now)),
        ]
    }
}
