/// A JSON number as the parser holds it: written without fraction and exponent, or with.
enum Number: Sendable, Equatable {
    case integer(Int64)
    case real(Double)

    /// Nil when there is no number at the node.
    init?(_ node: Node) {
        switch node.kind {
        case .integer: self = .integer(PublicAccess.integer(node))
        case .real: self = .real(PublicAccess.real(node))
        default: return nil
        }
    }

    /// Below zero when `integer` is the smaller one, zero when both are the same number. Exact: turning the integer
    /// into a double would make 2^53 + 1 equal to 2^53.
    @inline(__always) static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        // Towards zero; the fraction decides only when the whole parts are the same.
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rounded = Double(whole)
        return rounded == real ? 0 : rounded < real ? -1 : 1
    }

    /// Whether a double has no fraction, which makes it an `integer` since draft-06. (Rounding is a library call on the
    /// oldest x86-64; this is not.)
    @inline(__always) static func isWhole(_ real: Double) -> Bool {
        real.magnitude >= 0x1p52 || Double(Int64(real)) == real
    }
}

/// The numbers that `minimum`, `maximum` and their exclusive forms leave, for both ways a number is held: a check is
/// two comparisons, and exact. All four ends are inclusive.
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
            // The smallest whole number in the range: the next one up, or one more when it is the excluded bound
            // itself.
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

    /// An end beyond 64 bits leaves no integer at all.
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
