/// A JSON number as the parser represents it: an integer, or a double if it was written with a fraction or an exponent.
enum Number: Sendable, Equatable {
    case integer(Int64)
    case real(Double)

    /// Creates the number of a node. Returns nil if the node is not a number.
    init?(_ node: Node) {
        switch node.kind {
        case .integer: self = .integer(PublicAccess.integer(node))
        case .real: self = .real(PublicAccess.real(node))
        default: return nil
        }
    }

    /// Compares two numbers exactly. Returns a negative value if `integer` is smaller, zero if both are equal, and
    /// otherwise a positive value. The integer is not converted to a double, because 2^53 + 1 would then equal 2^53.
    @inline(__always) static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        // The conversion rounds towards zero. The fraction is relevant only if the integer parts are equal.
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rounded = Double(whole)
        return rounded == real ? 0 : rounded < real ? -1 : 1
    }

    /// Returns true for a double without a fraction, which is an `integer` since draft-06. The function does not use
    /// rounding, which is a library call on old x86-64 processors.
    @inline(__always) static func isWhole(_ real: Double) -> Bool {
        real.magnitude >= 0x1p52 || Double(Int64(real)) == real
    }
}

/// The range that `minimum`, `maximum` and their exclusive forms allow. It has a lower and an upper end for integers,
/// and a lower and an upper end for doubles. All ends are inclusive. A check needs two exact comparisons.
struct NumberRange: Sendable {
    private(set) var lowest = Int64.min
    private(set) var highest = Int64.max
    private(set) var low = -Double.infinity
    private(set) var high = Double.infinity

    @inline(__always) func contains(_ integer: Int64) -> Bool { lowest <= integer && integer <= highest }

    @inline(__always) func contains(_ real: Double) -> Bool { low <= real && real <= high }

    mutating func require(atLeast bound: Number, exclusively: Bool = false) {
        switch bound {
        case .integer(let bound):
            raise(to: exclusively ? bound.addingReportingOverflow(1) : (bound, false))
            let near = Double(bound)
            let order = Number.compare(bound, near)
            low = max(low, order > 0 || (order == 0 && exclusively) ? near.nextUp : near)
        case .real(let bound):
            low = max(low, exclusively ? bound.nextUp : bound)
            // The smallest allowed integer is the next integer that is at least the bound, or above the bound if the
            // bound is exclusive.
            let whole = exclusively ? bound.rounded(.down) : bound.rounded(.up)
            if whole >= 0x1p63 { return raise(to: (0, true)) }
            guard whole >= -0x1p63 else { return }
            raise(to: exclusively ? Int64(whole).addingReportingOverflow(1) : (Int64(whole), false))
        }
    }

    mutating func require(atMost bound: Number, exclusively: Bool = false) {
        switch bound {
        case .integer(let bound):
            lower(to: exclusively ? bound.subtractingReportingOverflow(1) : (bound, false))
            let near = Double(bound)
            let order = Number.compare(bound, near)
            high = min(high, order < 0 || (order == 0 && exclusively) ? near.nextDown : near)
        case .real(let bound):
            high = min(high, exclusively ? bound.nextDown : bound)
            let whole = exclusively ? bound.rounded(.up) : bound.rounded(.down)
            if whole < -0x1p63 { return lower(to: (0, true)) }
            guard whole < 0x1p63 else { return }
            lower(to: exclusively ? Int64(whole).subtractingReportingOverflow(1) : (Int64(whole), false))
        }
    }

    /// Raises the lower end for integers. If the end is above 64 bits, the range contains no integers.
    private mutating func raise(to end: (partialValue: Int64, overflow: Bool)) {
        if end.overflow { return leaveNoInteger() }
        lowest = max(lowest, end.partialValue)
    }

    private mutating func lower(to end: (partialValue: Int64, overflow: Bool)) {
        if end.overflow { return leaveNoInteger() }
        highest = min(highest, end.partialValue)
    }

    private mutating func leaveNoInteger() { (lowest, highest) = (.max, .min) }
}
