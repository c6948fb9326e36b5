extension Pattern.Parser {
    /// Parses `*`, `+`, `?` or `{…}`, optionally followed by `?`. Returns nil when there is no quantifier.
    mutating func quantifier() throws(PatternError) -> Pattern.Repetition? {
        var repetition = Pattern.Repetition()
        if accept("+") {
            repetition.least = 1
        } else if accept("?") {
            repetition.most = 1
        } else if peek == UInt8(ascii: "{") {
            repetition = try counts()
        } else if !accept("*") {
            return nil
        }
        repetition.isGreedy = !accept("?")
        return repetition
    }

    private mutating func counts() throws(PatternError) -> Pattern.Repetition {
        let start = offset
        offset += 1
        guard let least = digits() else { throw failure("a repeat count is missing") }
        var most: Range<Int>? = least
        if accept(",") { most = digits() }
        guard accept("}") else {
            throw PatternError(message: "the closing brace of a repeat count is missing", offset: start)
        }
        if let most, isGreater(least, most) {
            throw PatternError(message: "the maximum of a repeat count is below its minimum", offset: start)
        }
        return Pattern.Repetition(least: number(least), most: most.map(number))
    }

    /// Parses a sequence of digits. Returns its range without leading zeros; nil when there are no digits.
    private mutating func digits() -> Range<Int>? {
        let start = offset
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
        guard offset > start else { return nil }
        var first = start
        while first < offset - 1, source[first] == UInt8(ascii: "0") { first += 1 }
        return first..<offset
    }

    /// Returns true when the number at `left` is greater than the number at `right`. The numbers are compared as
    /// digits, because they may be too large for an integer.
    private func isGreater(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        if left.count != right.count { return left.count > right.count }
        return source[right].lexicographicallyPrecedes(source[left])
    }

    /// Returns the value of the digits, or a number above every limit if the digits are too many.
    func number(_ digits: Range<Int>) -> Int {
        guard digits.count <= 9 else { return 1_000_000_000 }
        return source[digits].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Parses `\1`, `\2`…. The backslash has been read, and the next character is a digit other than zero.
    mutating func backReference() -> Pattern.Node {
        let start = offset
        let value = digits().map(number) ?? 0
        if value > greatestReference.number { greatestReference = (value, start) }
        return .backReference(value)
    }
}
