import Testing

@testable import Bench

@Suite("A histogram") struct HistogramTests {
    @Test("gives percentiles to within one percent", arguments: [0.5, 0.99, 0.999, 1.0])
    func percentiles(_ share: Double) {
        let histogram = Histogram()
        for value in 1...100_000 { histogram.add(UInt64(value) * 1_000) }
        let exact = share * 100_000 * 1_000
        let found = Double(histogram.nanoseconds(at: share))
        #expect(found >= exact * 0.999 && found <= exact * 1.01)
    }

    @Test("is exact where durations are small, and knows the longest")
    func small() {
        let histogram = Histogram()
        for value: UInt64 in [3, 3, 3, 90] { histogram.add(value) }
        #expect(histogram.nanoseconds(at: 0.5) == 3 && histogram.nanoseconds(at: 1) == 90 && histogram.largest == 90)
    }

    @Test("holds every possible duration")
    func extremes() {
        let histogram = Histogram()
        histogram.add(0)
        histogram.add(1 << 62)
        #expect(histogram.nanoseconds(at: 0.5) == 0 && histogram.nanoseconds(at: 1) == 1 << 62)
    }

    @Test("has no percentile without values, also after a reset")
    func empty() {
        let histogram = Histogram()
        histogram.add(7)
        histogram.reset()
        #expect(histogram.count == 0 && histogram.nanoseconds(at: 0.99) == 0)
    }
}
