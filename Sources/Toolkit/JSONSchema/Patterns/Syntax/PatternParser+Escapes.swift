extension Pattern.Parser {
    /// Parses an escape outside a class. The next character is the backslash.
    mutating func atomEscape() throws(PatternError) -> Pattern.Node {
        let start = offset
        offset += 1
        if let byte = peek, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(byte) { return backReference() }
        if accept("k") { return try namedReference() }
        if let item = try classEscape() { return .set(Pattern.CharacterClass(items: [item])) }
        return .scalar(try characterEscape(start))
    }

    /// Parses `\d \D \s \S \w \W \p{…} \P{…}`; nil for any other escape. The backslash has been read.
    mutating func classEscape() throws(PatternError) -> Pattern.CharacterClass.Item? {
        if accept("d") { return .digits(negated: false) }
        if accept("D") { return .digits(negated: true) }
        if accept("s") { return .apps(negated: false) }
        if accept("S") { return .apps(negated: true) }
        if accept("w") { return .words(negated: false) }
        if accept("W") { return .words(negated: true) }
        if accept("p") { return .property(try property(), negated: false) }
        return accept("P") ? .property(try property(), negated: true) : nil
    }

    /// Parses an escape that represents one character. The backslash at `start` has been read.
    mutating func characterEscape(_ start: Int) throws(PatternError) -> UInt32 {
        guard let byte = peek else { throw PatternError(message: "the pattern ends in a backslash", offset: start) }
        offset += 1
        switch byte {
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "v"): return 0x0B
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "u"): return try unicodeEscape()
        case UInt8(ascii: "x"):
            guard let value = hexDigits(2) else { throw failure("\\x must be followed by two hexadecimal digits") }
            return value
        case UInt8(ascii: "c"):
            guard let letter = peek, isLetter(letter) else { throw failure("\\c must be followed by a letter") }
            offset += 1
            return UInt32(letter & 31)
        case UInt8(ascii: "0"):
            if let digit = peek, isDigit(digit) { throw failure("octal escapes are not supported") }
            return 0
        default:
            guard isSyntaxCharacter(byte) else {
                throw PatternError(message: "this character cannot be escaped", offset: start)
            }
            return UInt32(byte)
        }
    }

    /// Parses `\uXXXX`, a surrogate pair of them, or `\u{…}`. The `\u` has been read.
    mutating func unicodeEscape() throws(PatternError) -> UInt32 {
        if accept("{") { return try bracedEscape() }
        guard let lead = hexDigits(4) else {
            throw failure("\\u must be followed by four hexadecimal digits, or by {…}")
        }
        guard (0xD800...0xDBFF).contains(lead) else { return lead }
        let afterLead = offset
        if accept("\\u"), let trail = hexDigits(4), (0xDC00...0xDFFF).contains(trail) {
            return 0x10000 + (lead - 0xD800) << 10 + (trail - 0xDC00)
        }
        offset = afterLead
        return lead
    }

    private mutating func bracedEscape() throws(PatternError) -> UInt32 {
        let start = offset
        var value: UInt32 = 0
        while let digit = peek.flatMap(hexValue) {
            value = value << 4 | digit
            if value > Pattern.ScalarSet.last { throw failure("there is no such code point") }
            offset += 1
        }
        guard offset > start, accept("}") else { throw failure("\\u{ needs hexadecimal digits and a closing brace") }
        return value
    }

    private mutating func hexDigits(_ count: Int) -> UInt32? {
        guard source.count - offset >= count else { return nil }
        var value: UInt32 = 0
        for index in offset..<(offset + count) {
            guard let digit = hexValue(source[index]) else { return nil }
            value = value << 4 | digit
        }
        offset += count
        return value
    }

    /// Parses `{name}` or `{name=value}`. The `\p` or `\P` has been read.
    private mutating func property() throws(PatternError) -> UnicodeProperty {
        guard accept("{") else { throw failure("\\p must be followed by a property in braces") }
        let start = offset
        let name = word()
        let property =
            accept("=") ? UnicodeProperty(name: name, value: word()) : UnicodeProperty(lone: name)
        guard accept("}") else {
            throw PatternError(message: "the closing brace of a property is missing", offset: start)
        }
        guard let property else {
            throw PatternError(message: "there is no Unicode property with this name", offset: start)
        }
        return property
    }

    private mutating func word() -> UnsafeBufferPointer<UInt8> {
        let start = offset
        while let byte = peek, isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_") { offset += 1 }
        return UnsafeBufferPointer(rebasing: source[start..<offset])
    }
}

private func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private func hexValue(_ byte: UInt8) -> UInt32? {
    if isDigit(byte) { return UInt32(byte - UInt8(ascii: "0")) }
    let letter = byte | 0x20
    return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(letter) ? UInt32(letter - UInt8(ascii: "a") + 10) : nil
}

/// Returns true for a character that `IdentityEscape` allows with the `u` flag: `SyntaxCharacter` and the slash.
private func isSyntaxCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "^"), UInt8(ascii: "$"), UInt8(ascii: "\\"), UInt8(ascii: "."), UInt8(ascii: "*"),
        UInt8(ascii: "+"), UInt8(ascii: "?"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["),
        UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "|"), UInt8(ascii: "/"):
        true
    default: false
    }
}
