import Following
import HTTPServer

/// Counters of streams and polls at one moment. Those that count events only grow.
struct StreamMetrics: Sendable, Equatable {
    /// Streams open now, those that catch up included.
    var open = 0
    /// Feeds now: different selections and formats.
    var feeds = 0
    /// What the logs of all feeds take of `limits.all_feeds_bytes` now.
    var logBytes = 0
    /// Streams that are catching up now, and how many of them wait for their turn.
    var catchUpsNow = 0
    var catchUpsWaiting = 0
    /// Polls waiting for an event now.
    var pollsWaiting = 0
    /// Streams opened since the start.
    var opened: UInt64 = 0
    /// Streams that read the log before they went live.
    var catchUps: UInt64 = 0
    /// Pages read from the log for them; fewer than they got where several wanted the same.
    var pagesRead: UInt64 = 0
    /// Streams closed because their reader was too slow.
    var slowCloses: UInt64 = 0
    /// Events printed for live streams, once per format.
    var framed: UInt64 = 0
    /// Events appended to the logs of feeds.
    var appended: UInt64 = 0
    /// Heartbeats, once per feed.
    var heartbeats: UInt64 = 0
    /// Streams and polls told that they may have missed something.
    var gaps: UInt64 = 0
    /// Polls that had to wait since the start.
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
