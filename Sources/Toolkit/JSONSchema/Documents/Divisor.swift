import Glibc

/// The value of `multipleOf`, prepared for repeated checks. The arithmetic is decimal and uses the shortest digits that
/// are parsed as the same double. Therefore 19.99 is a multiple of 0.01, although the binary fractions are not exact
/// multiples.
///
/// A double of at least 2^53 is treated as the integer that it represents exactly.
struct Divisor: Sendable {
    /// The divisor is `modulus / 10^decimals`. The modulus is zero for a double of at least 2^63, which is stored only
    /// in `value`.
    private let modulus: UInt64
    private let decimals: Int
    /// `10^decimals` modulo `modulus`.
    private let scale: UInt64
    /// `10^decimals` as a double if that is exact (up to 10^22); zero otherwise.
    private let power: Double
    private let value: Double

    /// Prepares a divisor. Returns nil if the number is not positive.
    init?(_ number: Number) {
        switch number {
        case .integer(let integer):
            guard integer > 0 else { return nil }
            self.init(modulus: UInt64(integer), decimals: 0, value: Double(integer))
        case .real(let real):
            guard real > 0, real.isFinite else { return nil }
            if real >= 0x1p63 {
                self.init(modulus: 0, decimals: 0, value: real)
            } else if let whole = UInt64(exactly: real) {
                self.init(modulus: whole, decimals: 0, value: real)
            } else {
                // The number is a fraction, so the exponent is negative.
                let shortest = ShortestDecimal(real)
                self.init(modulus: shortest.digits, decimals: -shortest.exponent, value: real)
            }
        }
    }

    private init(modulus: UInt64, decimals: Int, value: Double) {
        self.modulus = modulus
        self.decimals = decimals
        self.value = value
        scale = modulus == 0 ? 0 : Modular.power(of: 10, to: decimals, modulo: modulus)
        // The product is exact, because every power up to 10^22 is a double.
        power = decimals <= 22 ? (0..<decimals).reduce(1) { product, _ in product * 10 } : 0
    }

    @inline(__always) func divides(_ integer: Int64) -> Bool { divides(whole: integer.magnitude) }

    func divides(_ real: Double) -> Bool {
        let real = real.magnitude
        if real >= 0x1p63 { return divides(huge: real) }
        if Number.isWhole(real) { return divides(whole: UInt64(real)) }
        return decimals > 0 && divides(fraction: real)
    }

    @inline(__always) private func divides(whole: UInt64) -> Bool {
        if modulus == 0 { return whole == 0 || Double(whole) == value && UInt64(value) == whole }
        let rest = whole % modulus
        return decimals == 0 ? rest == 0 : Modular.product(rest, scale, modulo: modulus) == 0
    }

    /// Returns true if `real`, interpreted as `significand * 2^exponent`, is a multiple of the divisor. This is exact
    /// for doubles of any size.
    private func divides(huge real: Double) -> Bool {
        if modulus == 0 { return fmod(real, value) == 0 }
        let significand = UInt64(real.significand * 0x1p52)
        let twos = Modular.power(of: 2, to: Int(real.exponent) - 52, modulo: modulus)
        let rest = Modular.product(significand % modulus, twos, modulo: modulus)
        return Modular.product(rest, scale, modulo: modulus) == 0
    }

    private func divides(fraction real: Double) -> Bool {
        let scaled = real * power
        if power > 0, scaled < 0x1p51 {
            // Below 2^51, adjacent decimals with this number of places are different doubles, and the error of the
            // product is less than one half. The rounded product is therefore the only candidate, and dividing back
            // verifies it.
            let digits = scaled.rounded(.toNearestOrEven)
            return digits / power == real && UInt64(digits) % modulus == 0
        }
        let shortest = ShortestDecimal(real)
        let exponent = shortest.exponent + decimals
        // If the value has more decimals than the divisor, it is not a multiple.
        guard exponent >= 0 else { return false }
        let tens = Modular.power(of: 10, to: exponent, modulo: modulus)
        return Modular.product(shortest.digits % modulus, tens, modulo: modulus) == 0
    }
}

/// Modular arithmetic with 128-bit intermediate results.
private enum Modular {
    /// Returns the product of two factors modulo `modulus`. Both factors must be below the modulus, so that the
    /// quotient does not overflow.
    @inline(__always) static func product(_ left: UInt64, _ right: UInt64, modulo modulus: UInt64) -> UInt64 {
        modulus.dividingFullWidth(left.multipliedFullWidth(by: right)).remainder
    }

    static func power(of base: UInt64, to exponent: Int, modulo modulus: UInt64) -> UInt64 {
        var result = 1 % modulus
        var square = base % modulus
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result = product(result, square, modulo: modulus) }
            square = product(square, square, modulo: modulus)
            rest >>= 1
        }
        return result
    }
}

/// The shortest decimal number that is parsed as a given double: `digits * 10^exponent`, without trailing zeros.
///
/// The digits come from Swift's description of the double, which is the shortest such number. An evaluation allocates
/// memory only for this description, and only for numbers of 16 or more digits.
struct ShortestDecimal {
    let digits: UInt64
    let exponent: Int

    /// Determines the shortest decimal number for a double.
    ///
    /// - Parameter real: a finite and positive number.
    init(_ real: Double) {
        var digits: UInt64 = 0
        var exponent = 0
        var isFraction = false
        var text = real.description[...].utf8
        while let byte = text.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits = digits * 10 + UInt64(byte - UInt8(ascii: "0"))
                exponent -= isFraction ? 1 : 0
            case UInt8(ascii: "."): isFraction = true
            default:
                exponent += Int(Substring(text)) ?? 0
                text = ""[...].utf8
            }
        }
        while digits > 0, digits.isMultiple(of: 10) {
            digits /= 10
            exponent += 1
        }
        self.digits = digits
        self.exponent = exponent
    }
}
