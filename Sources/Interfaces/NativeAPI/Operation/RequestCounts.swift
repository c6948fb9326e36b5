import HTTPServer
import Locking
import Synchronization

/// Counts of requests and sums of their durations, by route, method and status class. The memory is bounded, because
/// the router defines the routes and methods.
final class RequestCounts: Sendable {
    /// The upper bounds of the buckets of the duration histogram, in seconds.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    struct Key: Hashable {
        var method: String
        var route: String
    }

    struct Series {
        /// The numbers of responses by status class, from 1xx to 5xx.
        var statuses: [UInt64] = [0, 0, 0, 0, 0]
        /// The number of responses in each bucket of the duration histogram: one bucket for each of ``bounds``, and one
        /// for longer durations. The counts are not cumulative.
        var buckets = [UInt64](repeating: 0, count: RequestCounts.bounds.count + 1)
        var seconds = 0.0
        var bytes: UInt64 = 0
    }

    private let series = Lock<[Key: Series]>([:])
    private let refused = Atomic<UInt64>(0)

    /// The number of 429 responses on all routes.
    var tooMany: UInt64 { refused.load(ordering: .relaxed) }
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// Counts one response. Called on the loop for every response, so it must be fast.
    func record(_ outcome: Router.Outcome) {
        if outcome.status == 429 { refused.add(1, ordering: .relaxed) }
        let method = outcome.method.rawValue
        let key = Key(
            method: Self.methods.contains(method) ? method : "other", route: outcome.pattern?.description ?? "none")
        let seconds = outcome.duration / .seconds(1)
        let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
        series.withLock { series in
            series[key, default: Series()].count(outcome, seconds, bucket)
        }
    }

    /// The counts of all routes and methods, in the order of the routes.
    var all: [(key: Key, series: Series)] {
        series.withLock { $0.map { ($0.key, $0.value) } }.sorted {
            ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method)
        }
    }
}

extension RequestCounts.Series {
    fileprivate mutating func count(_ outcome: Router.Outcome, _ seconds: Double, _ bucket: Int) {
        statuses[min(max(outcome.status / 100, 1), 5) - 1] += 1
        buckets[bucket] += 1
        self.seconds += seconds
        bytes += UInt64(outcome.bodyBytes)
    }
}
