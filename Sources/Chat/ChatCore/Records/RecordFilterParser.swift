import ChatModel

extension RecordFilter {
    /// Compiles a filter for records of one kind, in the filter language of PubNub. An expression consists of
    /// comparisons, combined with `&&`, `||`, `!` and parentheses. A comparison has a field on the left, one of `== !=
    /// < > <= >= LIKE`, and a text, a number, `true`, `false` or `null` on the right. Unlike in the native language,
    /// `<` and `>` also compare texts, and there is no arithmetic.
    ///
    /// - Throws: `.malformed` with the slug `bad_filter`, and the column of the error in the message.
    init(_ text: String, _ fields: RecordFields, limits: Limits) throws(ChatError) {
        guard text.utf8.count <= limits.filterBytes else {
            throw ChatError(
                .malformed, "the filter is longer than \(limits.filterBytes) bytes", slug: FilterLexer.errorSlug,
                field: "filter")
        }
        var parser = try RecordFilterParser(text, fields, depthLimit: limits.filterDepth)
        self = try parser.parse()
    }
}

/// A recursive-descent parser of record filters, with one method for each rule of the grammar.
private struct RecordFilterParser {
    private var lexer: FilterLexer
    private var token: FilterToken
    private var offset: Int
    private let fields: RecordFields
    private let depthLimit: Int
    private var depth = 0

    init(_ text: String, _ fields: RecordFields, depthLimit: Int) throws(ChatError) {
        lexer = FilterLexer(text)
        (token, offset) = try lexer.next()
        self.fields = fields
        self.depthLimit = depthLimit
    }

    mutating func parse() throws(ChatError) -> RecordFilter {
        let filter = try or()
        guard token == .end else { throw fault("expected an operator or the end") }
        return filter
    }

    private mutating func or() throws(ChatError) -> RecordFilter {
        var parts = [try and()]
        while try accept(["||", "or"]) { parts.append(try and()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func and() throws(ChatError) -> RecordFilter {
        var parts = [try not()]
        while try accept(["&&", "and"]) { parts.append(try not()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func not() throws(ChatError) -> RecordFilter {
        depth += 1
        defer { depth -= 1 }
        guard depth <= depthLimit else { throw fault("nested deeper than \(depthLimit) levels") }
        if try accept(["!", "not"]) { return .not(try not()) }
        guard try accept(["("]) else { return try comparison() }
        let filter = try or()
        guard try accept([")"]) else { throw fault("expected ')'") }
        return filter
    }

    private static let comparisons: [(word: String, comparison: RecordFilter.Comparison)] = [
        ("==", .equal), ("!=", .notEqual), ("<=", .lessOrEqual), (">=", .greaterOrEqual), ("<", .less), (">", .greater),
        ("like", .like),
    ]

    private mutating func comparison() throws(ChatError) -> RecordFilter {
        let field = try field()
        for (word, comparison) in Self.comparisons where try accept([word]) {
            return comparison == .like
                ? fields.compare(field, .like, .string(try pattern()))
                : fields.compare(field, comparison, try value())
        }
        throw fault("expected ==, !=, <, >, <=, >= or LIKE")
    }

    /// Parses the name of a known field, or of a member of an object field: `custom.floor` or `custom["floor"]`.
    /// Returns the name of the field in the store.
    private mutating func field() throws(ChatError) -> String {
        let start = offset
        var name = ""
        if case .word(let word) = token {
            name = word
            try advance()
        } else if token != .symbol("[") {
            throw fault("expected a field's name")
        }
        while let member = try member() { name += name.isEmpty ? member : "." + member }
        guard let stored = fields.stored(name) else {
            let known = (fields.words + fields.objects.map { $0.word + ".…" }).joined(separator: ", ")
            throw lexer.fault("unknown field '\(name.prefix(40))' (known: \(known))", at: start)
        }
        return stored
    }

    private mutating func member() throws(ChatError) -> String? {
        if try accept(["."]) {
            guard case .word(let member) = token else { throw fault("expected a member's name") }
            try advance()
            return member
        }
        guard try accept(["["]) else { return nil }
        guard case .string(let pieces) = token else { throw fault("expected a member's name in quotes") }
        try advance()
        guard try accept(["]"]) else { throw fault("expected ']'") }
        return pieces.joined(separator: "*")
    }

    private mutating func value() throws(ChatError) -> RecordFilter.Value {
        let isNegative = try accept(["-"])
        let value: RecordFilter.Value
        switch token {
        case .number(let digits):
            guard let number = Double(digits) else { throw fault("a number is out of range") }
            value = .number(isNegative ? -number : number)
        case .string(let pieces) where !isNegative: value = .string(pieces.joined(separator: "*"))
        case .word("true") where !isNegative: value = .boolean(true)
        case .word("false") where !isNegative: value = .boolean(false)
        case .word("null") where !isNegative: value = .null
        default: throw fault("expected a quoted text, a number, true, false or null")
        }
        try advance()
        return value
    }

    /// Parses the pattern of `LIKE`, and returns it in the form of the store: `*` is the wildcard, and a star or
    /// backslash of the text is escaped.
    private mutating func pattern() throws(ChatError) -> String {
        guard case .string(let pieces) = token else { throw fault("expected a quoted text after LIKE") }
        try advance()
        return pieces.map { piece in
            piece.reduce(into: "") { $0 += $1 == "*" || $1 == "\\" ? "\\\($1)" : "\($1)" }
        }.joined(separator: "*")
    }

    private mutating func accept(_ words: [String]) throws(ChatError) -> Bool {
        let isThere =
            switch token {
            case .symbol(let symbol): words.contains(symbol)
            case .word(let word): words.contains(word.lowercased())
            default: false
            }
        if isThere { try advance() }
        return isThere
    }

    private mutating func advance() throws(ChatError) { (token, offset) = try lexer.next() }

    private func fault(_ what: String) -> ChatError { lexer.fault(what, at: offset) }
}
