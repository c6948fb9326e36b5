/// A clock on which every wait ends at once.
public struct ImpatientClock: Clock {
    public init() {}

    public var now: ContinuousClock.Instant { .now }
    public var minimumResolution: Duration { .zero }
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}
