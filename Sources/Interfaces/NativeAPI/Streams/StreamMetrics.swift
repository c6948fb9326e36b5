import LongPolling
import HTTPServer
import Locking

/// The statistics of streams and polls at one moment. The counters (`UInt64`) never decrease.
struct StreamMetrics: Sendable, Equatable {
    /// The number of open streams, including streams that catch up.
    var open = 0
    /// The number of feeds: distinct combinations of selection and format.
    var feeds = 0
    /// The bytes that the logs of all feeds use. Their limit is `limits.all_feeds_bytes`.
    var logBytes = 0
    /// The number of streams that catch up (read missed events from the log).
    var catchUpsNow = 0
    /// The number of streams that wait until they may read a catch-up page from the log.
    var catchUpsWaiting = 0
    /// The number of polls that wait for an event.
    var pollsWaiting = 0
    /// Streams opened since the start.
    var opened: UInt64 = 0
    /// Streams that read the log before they became live, since the start.
    var catchUps: UInt64 = 0
    /// Pages read from the log for catch-up. More pages are sent than read when streams share pages.
    var pagesRead: UInt64 = 0
    /// Streams closed because their reader was too slow.
    var slowCloses: UInt64 = 0
    /// Events printed for live streams, counted once per format.
    var framed: UInt64 = 0
    /// Events appended to the logs of feeds.
    var appended: UInt64 = 0
    /// Heartbeats appended, counted once per feed.
    var heartbeats: UInt64 = 0
    /// Gaps reported to streams and polls because their clients may have missed events.
    var gaps: UInt64 = 0
    /// Polls that had to wait for events, since the start.
    var pollsHeld: UInt64 = 0

    init() {}
}

extension LiveStreams {
    var metrics: StreamMetrics {
        var metrics = counters
        metrics.open = roll.count
        metrics.feeds = feedCount
        metrics.logBytes = budget.usedBytes
        metrics.catchUpsNow = catchingUp.count
        metrics.catchUpsWaiting = turns.waitingCount
        (metrics.pollsWaiting, metrics.pollsHeld) = polls.assumeIsolated { ($0.count, $0.heldSinceStart) }
        metrics.framed = framedCount
        metrics.appended += appendedByFeeds
        return metrics
    }
}
