extension Pattern.Parser {
    /// The name of a group; `(?<` has been read.
    mutating func nameGroup(_ number: Int) throws(PatternError) {
        let start = offset
        let name = try groupName()
        guard groupNames.updateValue(number, forKey: name) == nil else {
            throw PatternError(message: "two groups have the same name", offset: start)
        }
    }

    /// `\k<name>`; `\k` has been read.
    mutating func namedReference() throws(PatternError) -> Pattern.Node {
        guard take("<") else { throw failure("\\k needs the name of a group in angle brackets") }
        let start = offset
        namedReferences.append((try groupName(), start))
        return .namedReference(namedReferences.count - 1)
    }

    /// An identifier up to `>`, as its code points.
    private mutating func groupName() throws(PatternError) -> [UInt32] {
        var name: [UInt32] = []
        while !take(">") {
            let start = offset
            guard peek != nil else { throw failure("the name of a group is not closed") }
            let scalar = take("\\u") ? try unicodeEscape() : nextScalar()
            guard isNamePart(scalar, first: name.isEmpty) else {
                throw PatternError(message: "the name of a group is no identifier", offset: start)
            }
            name.append(scalar)
        }
        if name.isEmpty { throw failure("the name of a group is empty") }
        return name
    }

    private func isNamePart(_ scalar: UInt32, first: Bool) -> Bool {
        switch scalar {
        case 0x24, 0x5F: true
        case 0x200C, 0x200D: !first
        default: first ? UnicodeProperty.isIdentifierStart(scalar) : UnicodeProperty.isIdentifierPart(scalar)
        }
    }
}
