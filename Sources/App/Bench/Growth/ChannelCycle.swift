/// The order in which the channels of a run receive events: each channel once, then again from the beginning.
struct ChannelCycle {
    /// The number of channels.
    let count: Int
    private let step: Int
    private var current: Int

    /// - Parameters:
    ///   - count: the number of channels, at least one.
    ///   - current: the first channel.
    ///   - isScattered: true for an order in which channels with adjacent names are far apart.
    init(count: Int, current: Int = 0, isScattered: Bool = false) {
        (self.count, self.current) = (count, current)
        step = isScattered ? Self.scatteredStep(count) : 1
    }

    mutating func next() -> Int {
        defer { current = (current + step) % count }
        return current
    }

    /// Returns a number without a common divisor with `count`, close to the golden section of `count`.
    private static func scatteredStep(_ count: Int) -> Int {
        var step = max(1, Int(Double(count) * 0.618))
        while greatestCommonDivisor(step, count) > 1 { step += 1 }
        return step
    }

    private static func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestCommonDivisor(other, one % other)
    }
}
