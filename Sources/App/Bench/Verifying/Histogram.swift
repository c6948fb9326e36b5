/// A histogram of durations with an error of at most one percent, in constant memory.
final class Histogram {
    private static let fineness = 7  // 128 steps for each power of two
    private static let steps = 1 << fineness
    private static let size = steps * (65 - fineness)
    private let counts: UnsafeMutablePointer<UInt64>
    private(set) var count: UInt64 = 0
    private(set) var largest: UInt64 = 0

    init() {
        counts = .allocate(capacity: Self.size)
        counts.initialize(repeating: 0, count: Self.size)
    }

    deinit { counts.deallocate() }

    @inline(__always)
    func add(_ nanoseconds: UInt64) {
        counts[Self.index(of: nanoseconds)] &+= 1
        count &+= 1
        if nanoseconds > largest { largest = nanoseconds }
    }

    func reset() {
        counts.update(repeating: 0, count: Self.size)
        (count, largest) = (0, 0)
    }

    /// The duration in nanoseconds that the given share of all values does not exceed; 0 when there are no values.
    func nanoseconds(at share: Double) -> UInt64 {
        guard count > 0 else { return 0 }
        let wanted = max(1, UInt64((Double(count) * share).rounded(.up)))
        var seen: UInt64 = 0
        for index in 0..<Self.size {
            seen &+= counts[index]
            if seen >= wanted { return min(Self.value(at: index), largest) }
        }
        return largest
    }

    @inline(__always)
    private static func index(of value: UInt64) -> Int {
        guard value >= UInt64(steps) else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - fineness
        return (shift + 1) << fineness + Int(value >> UInt64(shift)) - steps
    }

    /// Returns the longest duration, in nanoseconds, that is counted in the bucket at `index`.
    private static func value(at index: Int) -> UInt64 {
        guard index >= steps else { return UInt64(index) }
        let shift = index >> fineness - 1
        return (UInt64(index & (steps - 1) + steps) + 1) << UInt64(shift) - 1
    }
}
