import JSON
import TestSupport
import Testing

@testable import JSONSchema

private let around53: [Int64] = [-1, 0, 1, 2].map { (1 << 53) + $0 }
private let integers: [Int64] =
    [.min, .min + 1, .min + 1024, -2, -1, 0, 1, 2, 3, .max - 1024, .max - 1, .max] + around53 + around53.map { -$0 }
private let reals: [Double] =
    [0, -0.0, 0.5, 1, 1.5, 2, 2.5, 0x1p53, 0x1p53 + 2, 0x1p62, 0x1p63, 0x1p64, 1e300, Double.leastNonzeroMagnitude]
    .flatMap { [$0, -$0, $0.nextUp, $0.nextDown] }

/// The order of an integer and a double, computed in 128 bits.
private func exactOrder(_ integer: Int64, _ real: Double) -> Int {
    if real.magnitude >= 0x1p100 { return real > 0 ? -1 : 1 }
    let whole = Int128(real)
    if Int128(integer) != whole { return Int128(integer) < whole ? -1 : 1 }
    let fraction = real - real.rounded(.towardZero)
    return fraction == 0 ? 0 : fraction > 0 ? -1 : 1
}

@Suite("Numbers") struct NumberTests {
    @Test("of both kinds compare exactly")
    func comparison() {
        for integer in integers {
            for real in reals {
                #expect(Number.compare(integer, real) == exactOrder(integer, real), "\(integer) \(real)")
            }
        }
    }

    @Test("without a fraction are whole")
    func whole() {
        for real in reals { #expect(Number.isWhole(real) == (real == real.rounded(.down)), "\(real)") }
    }

    @Test("stay between exact bounds", arguments: [false, true])
    func bounds(exclusively: Bool) {
        let values = integers.map(Number.integer) + reals.map(Number.real)
        for bound in values {
            var least = NumberRange()
            var most = NumberRange()
            least.require(atLeast: bound, exclusively: exclusively)
            most.require(atMost: bound, exclusively: exclusively)
            for value in values {
                let order = order(value, bound)
                #expect(contains(least, value) == (exclusively ? order > 0 : order >= 0), "\(value) >= \(bound)")
                #expect(contains(most, value) == (exclusively ? order < 0 : order <= 0), "\(value) <= \(bound)")
            }
        }
    }

    @Test("may be excluded completely by their bounds")
    func nothing() {
        var range = NumberRange()
        range.require(atLeast: .integer(.max), exclusively: true)
        range.require(atMost: .integer(5))
        #expect(integers.allSatisfy { !range.contains($0) })
        #expect(!range.contains(5.0) && !range.contains(1e300))
    }

    private func contains(_ range: NumberRange, _ value: Number) -> Bool {
        switch value {
        case .integer(let integer): range.contains(integer)
        case .real(let real): range.contains(real)
        }
    }

    private func order(_ left: Number, _ right: Number) -> Int {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.real(let left), .real(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.integer(let left), .real(let right)): exactOrder(left, right)
        case (.real(let left), .integer(let right)): -exactOrder(right, left)
        }
    }
}

@Suite("A divisor") struct DivisorTests {
    @Test(
        "divides what its decimal divides",
        arguments: [
            (19.99, 0.01, true), (4.35, 0.01, true), (1.1, 0.01, true), (0.005, 0.01, false), (0.0075, 0.0001, true),
            (0.00751, 0.0001, false), (35, 1.5, false), (4.5, 1.5, true), (0, 1e300, true), (1e308, 0.5, true),
            (1e308, 0.123456789, false), (12_391_239_123, 1e-8, true), (1e300, 1e300, true), (1e300, 7e299, false),
            (0x1p70, 0x1p70, true), (0x1p70, 1024, true), (0x1p70, 3, false), (3e22, 3, true), (0.3, 1e-300, true),
            (1.5, 1e300, false), (-4.5, 1.5, true), (-0.0, 0.1, true), (0x1p63, 0x1p63, true),
            // More digits than a double represents exactly as an integer, so the exact path runs.
            (30_000_000_000_000.37, 0.01, true), (30_000_000_000_000.37, 0.1, false), (123_456_789.125, 1e-9, true),
            (4_503_599_627_370_495.5, 0.5, true), (2.5e-300, 5e-301, true), (2.5e-300, 2e-301, false),
        ] as [(Double, Double, Bool)])
    func table(value: Double, divisor: Double, expected: Bool) throws {
        #expect(try #require(Divisor(.real(divisor))).divides(value) == expected)
    }

    @Test(
        "divides integers of any size",
        arguments: [
            (9_007_199_254_740_993, .integer(3), true), (.max, .integer(.max), true), (.max - 1, .integer(.max), false),
            (.min, .integer(2), true), (.min, .real(0x1p63), true), (.min + 1, .real(0x1p63), false),
            (0, .real(1e300), true), (5, .real(1e300), false), (.max, .real(1e-300), true), (7, .real(3.5), true),
            (8, .real(3.5), false), (.max, .real(0.7), true), (.max - 1, .real(0.7), false),
        ] as [(Int64, Number, Bool)])
    func integers(value: Int64, divisor: Number, expected: Bool) throws {
        #expect(try #require(Divisor(divisor)).divides(value) == expected)
    }

    @Test("is above zero", arguments: [.integer(0), .integer(-1), .real(0), .real(-0.5)] as [Number])
    func positive(number: Number) { #expect(Divisor(number) == nil) }

    /// A double keeps fifteen digits of any decimal, so the exact answer is that of the texts.
    @Test("agrees with exact rationals", arguments: [1, 2, 3])
    func rationals(seed: UInt64) throws {
        var draw = SeededGenerator(seed: seed)
        for _ in 0..<60_000 {
            let divisor = Decimal(draw: &draw, digits: 1...7, decimals: 0...9)
            let value =
                draw.next() % 2 == 0
                ? Decimal(draw: &draw, digits: 1...15, decimals: 0...12)
                : divisor.multiplied(by: UInt64(draw.next() % 10_000_000))
            guard divisor.digits > 0 else { continue }
            let (real, step) = (try #require(Double(value.text)), try #require(Double(divisor.text)))
            let prepared = try #require(Divisor(.real(step)))
            #expect(
                prepared.divides(real) == value.isMultiple(of: divisor), "\(value.text) \(divisor.text) seed \(seed)")
            if value.decimals == 0 {
                #expect(
                    prepared.divides(Int64(value.digits)) == value.isMultiple(of: divisor),
                    "\(value.text) \(divisor.text) seed \(seed)")
            }
        }
    }

    @Test("reads the shortest digits of a double")
    func shortest() {
        let expected: [(Double, UInt64, Int)] = [
            (1, 1, 0), (100, 1, 2), (0.01, 1, -2), (1e-8, 1, -8), (19.99, 1999, -2), (1e300, 1, 300),
            (.leastNonzeroMagnitude, 5, -324), (1.7976931348623157e308, 17_976_931_348_623_157, 292),
            (123456789012345680, 12_345_678_901_234_568, 1),
        ]
        for (real, digits, exponent) in expected {
            let shortest = ShortestDecimal(real)
            #expect(shortest.digits == digits && shortest.exponent == exponent, "\(real)")
        }
    }
}

/// `digits / 10^decimals`, exactly.
private struct Decimal {
    var digits: UInt64
    var decimals: Int

    init(digits: UInt64, decimals: Int) { (self.digits, self.decimals) = (digits, decimals) }

    init(draw: inout SeededGenerator, digits: ClosedRange<Int>, decimals: ClosedRange<Int>) {
        let length = Int.random(in: digits, using: &draw)
        self.digits = .random(in: 0..<UInt64(Self.tens(length)), using: &draw)
        self.decimals = .random(in: decimals, using: &draw)
    }

    func multiplied(by factor: UInt64) -> Decimal { Decimal(digits: digits * factor, decimals: decimals) }

    func isMultiple(of divisor: Decimal) -> Bool {
        let numerator = UInt128(digits) * Self.tens(divisor.decimals)
        return numerator % (UInt128(divisor.digits) * Self.tens(decimals)) == 0
    }

    var text: String { "\(digits)e-\(decimals)" }

    private static func tens(_ exponent: Int) -> UInt128 { (0..<exponent).reduce(1) { product, _ in product * 10 } }
}
