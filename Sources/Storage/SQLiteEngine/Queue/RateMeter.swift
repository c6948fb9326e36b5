import ChatModel

/// Lets things begin at a steady rate, after a rest as many at once as one second has (a token bucket, kept as the one time
/// at which it will be full again).
struct RateMeter: Sendable {
    private let interval: Double
    private let tolerance: Double
    private var fullAt: Double = 0

    init(perSecond rate: Double) {
        let second = Double(Timetoken.ticksPerSecond)
        interval = second / rate
        tolerance = max(0, second - interval)
    }

    /// When the next may begin, in ticks; what lies beyond any clock is held at the end of time.
    var next: UInt64 { UInt64(exactly: max(0, fullAt - tolerance).rounded(.up)) ?? .max }

    /// One has begun.
    mutating func spend(at now: UInt64) { fullAt = max(fullAt, Double(now)) + interval }

    /// The clock went back: what was spent lies in the future.
    mutating func reset() { fullAt = 0 }
}
