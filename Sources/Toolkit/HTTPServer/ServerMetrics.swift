/// Counters of a ``Server`` at one moment. Those that count events only grow.
public struct ServerMetrics: Sendable, Equatable {
    /// HTTP connections open now, streams not counted.
    public var connections = 0
    /// Those of them whose clients wait for a late answer on a socket of ours.
    public var parked = 0
    /// HTTP connections taken since the start.
    public var accepted: UInt64 = 0
    /// Connections turned away or cut short at a limit.
    public var refused: UInt64 = 0
    /// Connections closed by a deadline.
    public var timedOut: UInt64 = 0
    /// Requests whose handler has begun and whose answer is not decided yet.
    public var requestsInFlight = 0
    /// Requests whose header was read.
    public var requests: UInt64 = 0
    /// Bytes of request bodies as they came over the wire.
    public var bodyBytesReceived: UInt64 = 0
    /// Bytes of request bodies held in memory now.
    public var bodyBytesInFlight = 0
    /// Bytes of answers' bodies whose size was known beforehand.
    public var bodyBytesSent: UInt64 = 0
    /// Requests that had to wait and were taken up again.
    public var resumes: UInt64 = 0
    /// Live streams.
    public var streams = 0
    /// What streams sent; all servers of the loop together.
    public var streamTraffic = StreamStatistics()

    public init() {}
}
