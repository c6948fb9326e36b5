extension Pattern.Parser {
    /// `[…]`; the bracket stands here.
    mutating func characterClass() throws(PatternError) -> Pattern.CharacterClass {
        let start = offset
        offset += 1
        var characters = Pattern.CharacterClass()
        characters.isNegated = take("^")
        while !take("]") {
            if offset == source.count { throw PatternError(message: "a class is not closed", offset: start) }
            characters.items.append(try rangeOrAtom())
        }
        return characters
    }

    private mutating func rangeOrAtom() throws(PatternError) -> Pattern.CharacterClass.Item {
        let start = offset
        let first = try classAtom()
        let dash = offset
        // A dash before the closing bracket is itself.
        guard take("-"), let next = peek, next != UInt8(ascii: "]") else {
            offset = dash
            return first
        }
        guard case .range(let low, _) = first, case .range(let high, _) = try classAtom() else {
            throw PatternError(message: "a class cannot be the end of a range", offset: start)
        }
        if low > high { throw PatternError(message: "a range is out of order", offset: start) }
        return .range(low, high)
    }

    private mutating func classAtom() throws(PatternError) -> Pattern.CharacterClass.Item {
        let start = offset
        guard take("\\") else {
            let scalar = nextScalar()
            return .range(scalar, scalar)
        }
        if let item = try classEscape() { return item }
        let scalar = take("b") ? 0x08 : take("-") ? 0x2D : try characterEscape(start)
        return .range(scalar, scalar)
    }
}
