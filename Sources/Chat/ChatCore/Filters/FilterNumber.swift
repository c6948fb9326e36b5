/// A number in an expression. Integers are stored exactly, because timetokens have 17 digits and a double represents
/// only 15 digits exactly.
enum FilterNumber: Sendable {
    case integer(Int64)
    case real(Double)

    /// Parses an optional sign, digits, and optionally a fraction and an exponent. Returns nil for any other text, and
    /// for a number that is too large for a double. (`Double.init` would also accept `nan`, `inf` and hexadecimal
    /// digits.)
    init?(_ text: String) {
        guard Self.isDecimal(text.utf8) else { return nil }
        if let integer = Int64(text) {
            self = .integer(integer)
        } else {
            guard let real = Double(text), real.isFinite else { return nil }
            self = .real(real)
        }
    }

    init?(_ real: Double) {
        guard real.isFinite else { return nil }
        self = .real(real)
    }

    var double: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        }
    }

    var isZero: Bool { double == 0 }

    /// The operand for bitwise operators: the value of an integer, or of a real number without a fraction; otherwise
    /// nil.
    var bits: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        }
    }

    /// The decimal text of the number, for the operator `CONTAINS` with a text on the left.
    var decimal: String {
        switch self {
        case .integer(let value): String(value)
        case .real(let value): Int64(exactly: value).map { String($0) } ?? String(value)
        }
    }

    private static func isDecimal(_ text: String.UTF8View) -> Bool {
        // The states of a parser of decimal numbers.
        enum State { case start, sign, whole, point, fraction, mark, exponentSign, exponent }
        var state = State.start
        for byte in text {
            let isDigit = (0x30...0x39).contains(byte)
            switch (state, byte) {
            case (.start, UInt8(ascii: "+")), (.start, UInt8(ascii: "-")): state = .sign
            case (.start, _) where isDigit, (.sign, _) where isDigit, (.whole, _) where isDigit: state = .whole
            case (.whole, UInt8(ascii: ".")): state = .point
            case (.point, _) where isDigit, (.fraction, _) where isDigit: state = .fraction
            case (.whole, UInt8(ascii: "e")), (.whole, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "e")),
                (.fraction, UInt8(ascii: "E")):
                state = .mark
            case (.mark, UInt8(ascii: "+")), (.mark, UInt8(ascii: "-")): state = .exponentSign
            case (.mark, _) where isDigit, (.exponentSign, _) where isDigit, (.exponent, _) where isDigit:
                state = .exponent
            default: return false
            }
        }
        return state == .whole || state == .fraction || state == .exponent
    }
}

extension FilterNumber: Comparable {
    static func == (left: FilterNumber, right: FilterNumber) -> Bool {
        if case .integer(let left) = left, case .integer(let right) = right { return left == right }
        return left.double == right.double
    }

    static func < (left: FilterNumber, right: FilterNumber) -> Bool {
        if case .integer(let left) = left, case .integer(let right) = right { return left < right }
        return left.double < right.double
    }
}

/// The arithmetic and bitwise operators.
enum FilterArithmetic: Sendable {
    case add, subtract, or, xor, multiply, divide, remainder, and

    /// Applies the operator. Returns nil when there is no result: for a division by zero, a bitwise operator with a
    /// fraction, and a result beyond the range of doubles.
    ///
    /// The result of integer operands is an integer if it has no fraction and fits into 64 bits. Otherwise it is a
    /// double, so 7 / 2 is 3.5.
    func apply(_ left: FilterNumber, _ right: FilterNumber) -> FilterNumber? {
        if case .integer(let left) = left, case .integer(let right) = right, let exact = exact(left, right) {
            return .integer(exact)
        }
        switch self {
        case .add: return FilterNumber(left.double + right.double)
        case .subtract: return FilterNumber(left.double - right.double)
        case .multiply: return FilterNumber(left.double * right.double)
        case .divide: return right.isZero ? nil : FilterNumber(left.double / right.double)
        case .remainder:
            return right.isZero ? nil : FilterNumber(left.double.truncatingRemainder(dividingBy: right.double))
        case .and: return bitwise(left, right) { $0 & $1 }
        case .or: return bitwise(left, right) { $0 | $1 }
        case .xor: return bitwise(left, right) { $0 ^ $1 }
        }
    }

    private func exact(_ left: Int64, _ right: Int64) -> Int64? {
        let (result, overflow): (Int64, Bool)
        switch self {
        case .add: (result, overflow) = left.addingReportingOverflow(right)
        case .subtract: (result, overflow) = left.subtractingReportingOverflow(right)
        case .multiply: (result, overflow) = left.multipliedReportingOverflow(by: right)
        case .divide:
            guard left.remainderReportingOverflow(dividingBy: right) == (0, false) else { return nil }
            (result, overflow) = left.dividedReportingOverflow(by: right)
        case .remainder: (result, overflow) = left.remainderReportingOverflow(dividingBy: right)
        case .and, .or, .xor: return nil
        }
        return overflow ? nil : result
    }

    private func bitwise(
        _ left: FilterNumber, _ right: FilterNumber, _ combine: (Int64, Int64) -> Int64
    ) -> FilterNumber? {
        guard let left = left.bits, let right = right.bits else { return nil }
        return .integer(combine(left, right))
    }
}
