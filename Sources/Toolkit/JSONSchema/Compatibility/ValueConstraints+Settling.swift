import JSON

extension ValueConstraints {
    /// Derives simple consequences of the constraints: the remaining kinds, and the effective range of numbers.
    mutating func conclude() {
        if steps.contains(where: \.isWhole) { kinds.subtract(.fraction) }
        tightenRange()
        if range.lowest > range.highest { kinds.subtract(.written) }
        if range.low > range.high { kinds.subtract([.fraction, .integral]) }
        if minLength > maxLength { kinds.subtract(.string) }
        if minItems > maxItems { kinds.subtract(.array) }
        if minProperties > maxProperties || required.count > maxProperties { kinds.subtract(.object) }
        takeWords()
        values = values?.filter { !KindSet(of: $0).isDisjoint(with: kinds) }
        if let values {
            kinds.formIntersection(values.reduce([]) { $0.union(KindSet(of: $1)) })
        }
        if kinds.isEmpty || values?.isEmpty == true { isNothing = true }
    }

    /// Narrows the range if only integers are possible: moves its ends to integers, and to multiples of the integer
    /// divisors.
    private mutating func tightenRange() {
        guard !kinds.contains(.fraction) else { return }
        if range.low.isFinite { range.require(atLeast: .real(range.low.rounded(.up))) }
        if range.high.isFinite { range.require(atMost: .real(range.high.rounded(.down))) }
        for case .integer(let step) in steps where step > 1 {
            if range.lowest != .min {
                let rest = range.lowest % step
                let up = rest == 0 ? 0 : rest > 0 ? step - rest : -rest
                let (end, overflow) = range.lowest.addingReportingOverflow(up)
                if !overflow { range.require(atLeast: .integer(end)) }
            }
            if range.highest != .max {
                let rest = range.highest % step
                let down = rest == 0 ? 0 : rest > 0 ? rest : step + rest
                let (end, overflow) = range.highest.subtractingReportingOverflow(down)
                if !overflow { range.require(atMost: .integer(end)) }
            }
        }
    }

    /// Lists the possible values if only strings are possible and a pattern matches only a few words.
    private mutating func takeWords() {
        guard values == nil, kinds == .string, let words = patterns.lazy.compactMap(\.words).first else { return }
        let texts = words.map { JSONText(string: String(decoding: $0, as: UTF8.self)) }
        values = texts.compactMap { (try? JSONDocument($0.bytes))?.root }
    }

    /// The maximum number of integers in a range that are listed as values.
    private static let fewIntegers: Int64 = 64

    /// Returns these constraints with a list of all possible values if there are only a few: `null`, the booleans, or a
    /// small range of integers. Otherwise returns the constraints unchanged.
    func listed() -> ValueConstraints {
        guard values == nil, !isNothing else { return self }
        var texts: [String] = []
        if kinds.isSubset(of: [.null, .boolean]) {
            if kinds.contains(.null) { texts.append("null") }
            if !kinds.isDisjoint(with: .boolean) { texts += ["true", "false"] }
        } else if kinds.isSubset(of: .integer), let integers = fewIntegers {
            texts = integers.map { "\($0)" }
        } else {
            return self
        }
        var facts = self
        facts.values = texts.compactMap { (try? JSONDocument(Array($0.utf8)))?.root }
        return facts
    }

    private var fewIntegers: ClosedRange<Int64>? {
        // Both ends are checked as integers and as doubles, because integers outside 64 bits exist only as doubles.
        guard range.low >= -0x1p53, range.high <= 0x1p53, range.lowest <= range.highest else { return nil }
        let (width, overflow) = range.highest.subtractingReportingOverflow(range.lowest)
        return !overflow && width <= Self.fewIntegers ? range.lowest...range.highest : nil
    }
}

extension Number {
    /// True when the number has no fraction.
    var isWhole: Bool {
        switch self {
        case .integer: true
        case .real(let real): Number.isWhole(real)
        }
    }
}
