import Locking

/// How often something may be said about each of some names: a few times in a row, then once in a while, with the number
/// of what was left unsaid. Keeps strangers from filling the log.
final class LogRateLimit: Sendable {
    private struct Bucket {
        var tokens: Double
        var filled: ContinuousClock.Instant
        var suppressed = 0
    }

    /// Names remembered; beyond it all are forgotten, which at worst says a little more.
    private static let mostNames = 4096

    private let buckets = Lock<[String: Bucket]>([:])
    private let burst: Double
    private let interval: Duration

    /// - Parameters:
    ///   - burst: how often in a row.
    ///   - interval: after which one more may be said.
    init(burst: Int, interval: Duration) {
        self.burst = Double(burst)
        self.interval = interval
    }

    /// How many were left unsaid before this one, which may be said; nil when it may not.
    func admit(_ name: String, at now: ContinuousClock.Instant = .now) -> Int? {
        buckets.withLock { buckets in
            if buckets.count >= Self.mostNames, buckets[name] == nil { buckets.removeAll() }
            var bucket = buckets[name] ?? Bucket(tokens: burst, filled: now)
            bucket.tokens = min(burst, bucket.tokens + (now - bucket.filled) / interval)
            bucket.filled = now
            guard bucket.tokens >= 1 else {
                bucket.suppressed += 1
                buckets[name] = bucket
                return nil
            }
            let suppressed = bucket.suppressed
            bucket.tokens -= 1
            bucket.suppressed = 0
            buckets[name] = bucket
            return suppressed
        }
    }
}
