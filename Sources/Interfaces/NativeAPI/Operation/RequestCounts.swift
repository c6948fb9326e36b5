import HTTPServer
import Locking
import Synchronization

/// Counts of requests and sums of their durations, by route, method and status class. The memory is bounded, because
/// the router defines the routes and methods.
final class RequestCounts: Sendable {
    /// The upper bounds of the buckets of the duration histogram, in seconds.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    private static let boundsAsDurations = bounds.map { Duration.seconds($0) }

    struct Key {
        var method: String
        var route: String
    }

    struct Series {
        /// The numbers of responses by status class, from 1xx to 5xx.
        var statuses: [UInt64] = [0, 0, 0, 0, 0]
        /// The number of responses in each bucket of the duration histogram: one bucket for each of ``bounds``, and one
        /// for longer durations. The counts are not cumulative.
        var buckets = [UInt64](repeating: 0, count: RequestCounts.bounds.count + 1)
        var duration: Duration = .zero
        var bytes: UInt64 = 0
    }

    /// The series of each route, by the index of the method in ``methods``. A route has few methods, so hashing the route
    /// alone is faster than hashing both.
    private let series = Lock<[String: [Series?]]>([:])
    private let refused = Atomic<UInt64>(0)

    /// The number of 429 responses on all routes.
    var tooMany: UInt64 { refused.load(ordering: .relaxed) }
    /// The methods that are counted separately. The last entry counts all others.
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other"]

    /// Counts one response. Called on the loop for every response, so it must be fast.
    func record(_ outcome: Router.Outcome) {
        if outcome.status == 429 { refused.add(1, ordering: .relaxed) }
        let method = Self.methods.firstIndex(of: outcome.method.rawValue) ?? Self.methods.count - 1
        let bucket = Self.boundsAsDurations.firstIndex { outcome.duration <= $0 } ?? Self.bounds.count
        series.withLock { series in
            let route = outcome.pattern?.description ?? "none"
            Self.count(
                outcome, bucket,
                in: &series[route, default: Array(repeating: nil, count: Self.methods.count)][method])
        }
    }

    private static func count(_ outcome: Router.Outcome, _ bucket: Int, in series: inout Series?) {
        if series == nil { series = Series() }
        series?.count(outcome, bucket)
    }

    /// The counts of all routes and methods, in the order of the routes.
    var all: [(key: Key, series: Series)] {
        series.withLock { series in
            series.flatMap { route, methods in
                zip(Self.methods, methods).compactMap { method, series in
                    series.map { (Key(method: method, route: route), $0) }
                }
            }
        }.sorted { ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method) }
    }
}

extension RequestCounts.Series {
    fileprivate mutating func count(_ outcome: Router.Outcome, _ bucket: Int) {
        statuses[min(max(outcome.status / 100, 1), 5) - 1] += 1
        buckets[bucket] += 1
        duration += outcome.duration
        bytes += UInt64(outcome.bodyBytes)
    }
}
