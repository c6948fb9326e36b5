import JSON

/// Creates sample numbers and strings.
extension Inclusion {
    // MARK: - Numbers

    func numbers(_ part: ValueConstraints, below bound: Number) -> [JSONText] {
        numbers(part, near: [bound]).filter { text in Self.number(text).map { !$0.isGreater(than: bound) } ?? false }
    }

    func numbers(_ part: ValueConstraints, above bound: Number) -> [JSONText] {
        numbers(part, near: [bound]).filter { text in Self.number(text).map { !bound.isGreater(than: $0) } ?? false }
    }

    func numbers(_ part: ValueConstraints, indivisibleBy divisor: Divisor) -> [JSONText] {
        numbers(part).filter { text in Self.number(text).map { !$0.isMultiple(of: divisor) } ?? false }
    }

    private static func number(_ text: JSONText) -> Number? {
        (try? JSONDocument(text.bytes)).flatMap { document in
            withExtendedLifetime(document) { Number(document.root.node) }
        }
    }

    /// Returns sample numbers that satisfy the constraints: numbers near the ends of the range, multiples of the
    /// divisors, and numbers near `hints`.
    func numbers(_ part: ValueConstraints, near hints: [Number] = []) -> [JSONText] {
        guard needsSamples else { return [] }
        var candidates: [Number] = []
        for end in hints + [.integer(0), .integer(part.range.lowest), .integer(part.range.highest)] {
            candidates += end.neighbours
        }
        for end in [part.range.low, part.range.high] where end.isFinite { candidates += Number.real(end).neighbours }
        for step in part.steps { candidates += step.multiples(from: part.range) }
        let divisors = part.steps.compactMap(Divisor.init)
        var texts: [JSONText] = []
        for candidate in candidates where candidate.isInside(part.range) && part.kinds.holds(candidate) {
            guard divisors.allSatisfy(candidate.isMultiple) else { continue }
            let text = JSONText(trusted: Array(candidate.text.utf8))
            if !texts.contains(text) { texts.append(text) }
        }
        return texts
    }

    // MARK: - Strings

    /// Returns strings of about these lengths. If possible, they have the required formats and match the patterns.
    func strings(_ part: ValueConstraints, lengths: [Int]) -> [JSONText] {
        guard needsSamples else { return [] }
        var begun: [[UInt8]] = part.patterns.first.map { $0.examples(count: 6) } ?? []
        if let format = part.formats.first { begun += format.examples }
        if part.patterns.isEmpty, part.formats.isEmpty { begun = Self.plainTexts }
        var texts: [[UInt8]] = []
        for length in lengths.map({ max($0, part.minLength) }) where length <= min(part.maxLength, 10_000) {
            texts += part.patterns.first?.examples(count: 3, length: length) ?? []
            texts += begun.map { $0 + Array(repeating: UInt8(ascii: "a"), count: max(0, length - $0.count)) }
        }
        var seen: Set<[UInt8]> = []
        return (texts + begun).filter { fits($0, part) && seen.insert($0).inserted }.map {
            JSONText(string: String(decoding: $0, as: UTF8.self))
        }
    }

    private static let plainTexts = ["", "a", "A", "0", " ", "-", "é", "a b", "abcdefgh"].map { Array($0.utf8) }

    private func fits(_ text: [UInt8], _ part: ValueConstraints) -> Bool {
        let count = text.count { $0 & 0xC0 != 0x80 }
        return count >= part.minLength && count <= part.maxLength
            && part.patterns.allSatisfy { $0.matches(text) == true }
            && part.formats.allSatisfy { text.withUnsafeBufferPointer($0.accepts) }
    }
}

extension Number {
    fileprivate var text: String {
        switch self {
        case .integer(let integer): "\(integer)"
        case .real(let real): real.description
        }
    }

    fileprivate func isGreater(than other: Number) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left > right
        case (.real(let left), .real(let right)): left > right
        case (.integer(let left), .real(let right)): Number.compare(left, right) > 0
        case (.real(let left), .integer(let right)): Number.compare(right, left) < 0
        }
    }

    fileprivate var neighbours: [Number] {
        switch self {
        case .integer(let integer):
            let near: [Int64] = [0, 1, -1, 2, -2].compactMap { (offset: Int64) -> Int64? in
                let (sum, overflow) = integer.addingReportingOverflow(offset)
                return overflow ? nil : sum
            }
            let real = Double(integer)
            return near.map(Number.integer) + [0, 0.5, -0.5, 0.25].map { .real(real + $0) }
        case .real(let real):
            let near = [real, real + 1, real - 1, real + 0.5, real - 0.5, real.nextUp, real.nextDown]
            let finite = near.filter(\.isFinite)
            let whole = finite.map { $0.rounded() }.filter { $0.magnitude < 0x1p53 }.map { Number.integer(Int64($0)) }
            return whole + finite.map(Number.real)
        }
    }

    /// Returns some multiples of this divisor at the lower end of a range, or around zero.
    fileprivate func multiples(from range: NumberRange) -> [Number] {
        switch self {
        case .integer(let step):
            let first = range.lowest == .min ? 0 : range.lowest / step
            return (-1...6).compactMap { (offset: Int64) -> Number? in
                let (product, overflow) = (first + offset).multipliedReportingOverflow(by: step)
                return overflow ? nil : .integer(product)
            }
        case .real(let step):
            let first = range.low.isFinite ? (range.low / step).rounded(.up) : 0
            let reals = (-1...6).map { (first + Double($0)) * step }
            return reals.filter(\.isFinite).map(Number.real)
        }
    }
}

extension KindSet {
    /// Returns true when this set contains the kind of the number.
    fileprivate func holds(_ number: Number) -> Bool { !isDisjoint(with: number.isWhole ? .integer : .fraction) }
}
