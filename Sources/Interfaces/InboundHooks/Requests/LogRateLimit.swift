import ChatModel
import Locking

/// Limits the rate of messages separately for each name, such as the path of a source. Permits a burst of messages for
/// a name, and then one message per interval. Therefore no sender can fill a log with messages.
final class LogRateLimit: Sendable {
    private struct Bucket {
        /// The state of the name's rate limit. Its meaning is defined by ``GenericCellRate``.
        var fullAt: UInt64 = 0
        var suppressed = 0
    }

    /// The maximum number of names in memory. When another name would exceed this number, all names are removed first.
    /// Their limits start again.
    private static let mostNames = 4096

    private let buckets = Lock<[String: Bucket]>([:])
    private let rate: GenericCellRate
    private let start = ContinuousClock.now

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - burst: the number of messages permitted in succession.
    ///   - interval: the time after which a further message is permitted.
    init(burst: Int, interval: Duration) {
        rate = GenericCellRate(window: UInt64(burst) * interval.nanoseconds, cost: interval.nanoseconds)
    }

    /// Counts a message for a name. Returns the number of messages that were suppressed since the last permitted
    /// message for the name; nil when this message must be suppressed.
    func admit(_ name: String, at now: ContinuousClock.Instant = .now) -> Int? {
        buckets.withLock { buckets in
            if buckets.count >= Self.mostNames, buckets[name] == nil { buckets.removeAll() }
            var bucket = buckets[name] ?? Bucket()
            defer { buckets[name] = bucket }
            guard case .consumed(let fullAt) = rate.consume(fullAt: bucket.fullAt, at: (now - start).nanoseconds) else {
                bucket.suppressed += 1
                return nil
            }
            let suppressed = bucket.suppressed
            bucket = Bucket(fullAt: fullAt)
            return suppressed
        }
    }
}
