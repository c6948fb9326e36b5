import HTTPServer
import Locking
import Synchronization

/// Counts of requests and sums of their durations, by route, method and status class. The memory is bounded, because
/// the router defines the routes and methods.
final class RequestCounts: Sendable {
    /// The upper bounds of the buckets of the duration histogram, in seconds.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    private static let boundsInNanoseconds = bounds.map { UInt64($0 * 1e9) }

    struct Key {
        var method: String
        var route: String
    }

    struct Series {
        let key: Key
        /// The numbers of responses by status class, from 1xx to 5xx.
        var statuses: [UInt64] = [0, 0, 0, 0, 0]
        /// The number of responses in each bucket of the duration histogram: one bucket for each of ``bounds``, and one
        /// for longer durations. The counts are not cumulative.
        var buckets = [UInt64](repeating: 0, count: RequestCounts.bounds.count + 1)
        /// The sum of the durations of all requests.
        var nanoseconds: UInt64 = 0
        var bytes: UInt64 = 0
    }

    /// The series by route and method: first the series of requests without a route, then those of each route, in the
    /// order of the router's routes. Each has one element for each element of ``methods``.
    private let series = Lock<[Series?]>([])
    private let refused = Atomic<UInt64>(0)

    /// The number of 429 responses on all routes.
    var tooMany: UInt64 { refused.load(ordering: .relaxed) }
    /// The methods that are counted separately. The last entry counts all others.
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other"]

    /// Counts one response. Called on the loop for every response, so it must be fast. All outcomes must come from
    /// routers with the same routes.
    func record(_ outcome: Router.Outcome) {
        if outcome.status == 429 { refused.add(1, ordering: .relaxed) }
        let method = Self.methods.firstIndex(of: outcome.method.rawValue) ?? Self.methods.count - 1
        let bucket = Self.boundsInNanoseconds.firstIndex { outcome.nanoseconds <= $0 } ?? Self.bounds.count
        let index = outcome.route.map { ($0 + 1) * Self.methods.count + method } ?? method
        series.withLock { series in
            if index >= series.count {
                series.append(contentsOf: repeatElement(nil, count: index + 1 - series.count))
            }
            if series[index] == nil {
                let route = outcome.pattern?.description ?? "none"
                series[index] = Series(key: Key(method: Self.methods[method], route: route))
            }
            series[index]?.count(outcome, bucket)
        }
    }

    /// The counts of all routes and methods, in the order of the routes.
    var all: [Series] {
        series.withLock { $0.compactMap(\.self) }
            .sorted { ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method) }
    }
}

extension RequestCounts.Series {
    fileprivate mutating func count(_ outcome: Router.Outcome, _ bucket: Int) {
        statuses[min(max(outcome.status / 100, 1), 5) - 1] += 1
        buckets[bucket] += 1
        nanoseconds += outcome.nanoseconds
        bytes += UInt64(outcome.bodyBytes)
    }
}
