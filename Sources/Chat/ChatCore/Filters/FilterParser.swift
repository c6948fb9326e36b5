import ChatModel

/// Parses an expression by recursive descent, with one function for each rule of the grammar (docs/filters.md).
struct FilterParser {
    private var lexer: FilterLexer
    private var token: FilterToken
    private var offset: Int
    private let dialect: FilterDialect
    private let depthLimit: Int
    private var depth = 0
    private var searches = 0
    private let searchLimit: Int

    init(_ text: String, dialect: FilterDialect, limits: Limits) throws(ChatError) {
        lexer = FilterLexer(text)
        (token, offset) = try lexer.next()
        self.dialect = dialect
        depthLimit = limits.filterDepth
        searchLimit = limits.filterSearches
    }

    mutating func parse() throws(ChatError) -> FilterNode {
        guard token != .end else { throw fault("the expression is empty") }
        let node = try or()
        guard token == .end else { throw fault("expected an operator or the end, found \(found)") }
        return node
    }

    private mutating func or() throws(ChatError) -> FilterNode {
        var nodes = [try and()]
        while try accept("||", keyword: "or") { nodes.append(try and()) }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private mutating func and() throws(ChatError) -> FilterNode {
        var nodes = [try not()]
        while try accept("&&", keyword: "and") { nodes.append(try not()) }
        return nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private mutating func not() throws(ChatError) -> FilterNode {
        guard try accept("!", keyword: "not") else { return try comparison() }
        return .not(try nested { parser throws(ChatError) in try parser.not() })
    }

    private mutating func comparison() throws(ChatError) -> FilterNode {
        let left = try sum()
        let node: FilterNode
        switch token {
        case .symbol("=="): node = .equality(left, .equal, try operand())
        case .symbol("!="): node = .equality(left, .unequal, try operand())
        case .symbol("<"): node = .order(left, .less, try operand())
        case .symbol(">"): node = .order(left, .greater, try operand())
        case .symbol("<="): node = .order(left, .lessOrEqual, try operand())
        case .symbol(">="): node = .order(left, .greaterOrEqual, try operand())
        case .word(let word) where word.lowercased() == "contains":
            try countSearch()
            node = .contains(left, try operand())
        case .word(let word) where word.lowercased() == "like":
            try countSearch()
            node = try like(left)
        default: return left
        }
        if isComparison { throw fault("comparisons cannot be chained, so join them with '&&'; found \(found)") }
        return node
    }

    /// Parses the operand on the right side of a comparison.
    private mutating func operand() throws(ChatError) -> FilterNode {
        try advance()
        return try sum()
    }

    private mutating func like(_ left: FilterNode) throws(ChatError) -> FilterNode {
        try advance()
        guard case .string(let pieces) = token else { return .likeValue(left, try sum()) }
        try advance()
        return .like(left, WildcardPattern(pieces: pieces))
    }

    /// Counts a `LIKE` or `CONTAINS` operator. The number of these operators is limited, because each of them reads a
    /// whole text of every event.
    private mutating func countSearch() throws(ChatError) {
        searches += 1
        guard searches <= searchLimit else { throw fault("more than \(searchLimit) uses of LIKE and CONTAINS") }
    }

    private var isComparison: Bool {
        switch token {
        case .symbol(let symbol): ["==", "!=", "<", ">", "<=", ">="].contains(symbol)
        case .word(let word): ["like", "contains"].contains(word.lowercased())
        default: false
        }
    }

    private mutating func sum() throws(ChatError) -> FilterNode {
        try chain(["+": .add, "-": .subtract, "|": .or, "^": .xor]) { parser throws(ChatError) in try parser.term() }
    }

    private mutating func term() throws(ChatError) -> FilterNode {
        try chain(["*": .multiply, "/": .divide, "%": .remainder, "&": .and]) { parser throws(ChatError) in
            try parser.unary()
        }
    }

    private mutating func chain(
        _ operations: [String: FilterArithmetic], _ part: (inout FilterParser) throws(ChatError) -> FilterNode
    ) throws(ChatError) -> FilterNode {
        let first = try part(&self)
        var rest: [(FilterArithmetic, FilterNode)] = []
        while case .symbol(let symbol) = token, let operation = operations[symbol] {
            try advance()
            rest.append((operation, try part(&self)))
        }
        return rest.isEmpty ? first : .arithmetic(first, rest)
    }

    private mutating func unary() throws(ChatError) -> FilterNode {
        if try accept("~") { return .complement(try nested { parser throws(ChatError) in try parser.unary() }) }
        if try accept("-") { return try negative() }
        return try primary()
    }

    /// Parses a minus sign. A minus sign before a digit belongs to the number, so that `-9223372036854775808` is exact
    /// and `(-1)` is a literal.
    private mutating func negative() throws(ChatError) -> FilterNode {
        if case .number(let digits) = token { return .literal(try number("-" + digits)) }
        return .negative(try nested { parser throws(ChatError) in try parser.unary() })
    }

    private mutating func primary() throws(ChatError) -> FilterNode {
        switch token {
        case .number(let digits): return .literal(try number(digits))
        case .string(let pieces):
            try advance()
            return .literal(.string(pieces.joined(separator: "*")))
        case .symbol("("): return try list()
        case .word(let word): return try name(word)
        case .symbol, .end: throw fault("expected a value or a name, found \(found)")
        }
    }

    private mutating func number(_ digits: String) throws(ChatError) -> FilterValue {
        guard let number = FilterNumber(digits) else { throw fault("a number is out of range") }
        try advance()
        return .number(number)
    }

    /// Parses parentheses. Parentheses with several expressions or with a single literal are a set. Parentheses with
    /// one other expression are a group.
    private mutating func list() throws(ChatError) -> FilterNode {
        let opened = offset
        try advance()
        let nodes = try nested { parser throws(ChatError) in
            var nodes = [try parser.or()]
            while try parser.accept(",") { nodes.append(try parser.or()) }
            return nodes
        }
        guard try accept(")") else {
            let column = lexer.fault("'(' without ')'", at: opened)
            throw token == .end ? column : fault("expected ',' or ')', found \(found)")
        }
        let literals = nodes.compactMap { if case .literal(let value) = $0 { value } else { nil } }
        if literals.count == nodes.count { return .literal(.set(literals)) }
        return nodes.count == 1 ? nodes[0] : .list(nodes)
    }

    private mutating func name(_ word: String) throws(ChatError) -> FilterNode {
        let start = offset
        switch word.lowercased() {
        case "true": return try literal(.boolean(true))
        case "false": return try literal(.boolean(false))
        case "null": return try literal(.null)
        case "like", "contains", "and", "or", "not": throw fault("expected a value or a name, found \(found)")
        default: break
        }
        try advance()
        switch dialect.resolve(word, try steps()) {
        case .success(let source): return .name(source)
        case .failure(let reason): throw lexer.fault(reason.text, at: start)
        }
    }

    private mutating func literal(_ value: FilterValue) throws(ChatError) -> FilterNode {
        try advance()
        return .literal(value)
    }

    /// Parses any number of member accesses: `.name`, `["name"]` and `[0]`.
    private mutating func steps() throws(ChatError) -> [FilterStep] {
        var steps: [FilterStep] = []
        while true {
            if try accept(".") {
                guard case .word(let member) = token else { throw fault("expected a name after '.', found \(found)") }
                try advance()
                steps.append(.member(ExactText(member)))
            } else if try accept("[") {
                steps.append(try subscripted())
            } else {
                return steps
            }
        }
    }

    private mutating func subscripted() throws(ChatError) -> FilterStep {
        let step: FilterStep
        switch token {
        case .string(let pieces): step = .member(ExactText(pieces.joined(separator: "*")))
        case .number(let digits):
            guard let index = Int(digits) else { throw fault("expected a whole number in '[]', found \(found)") }
            step = .index(index)
        default: throw fault("expected a quoted name or a number after '[', found \(found)")
        }
        try advance()
        guard try accept("]") else { throw fault("expected ']', found \(found)") }
        return step
    }

    /// Runs `part` one nesting level deeper, and throws an error above `Limits.filterDepth` levels. Every level of
    /// parentheses and prefix operators uses stack memory, both in the parser and in each evaluation.
    private mutating func nested<Part>(
        _ part: (inout FilterParser) throws(ChatError) -> Part
    ) throws(ChatError) -> Part {
        guard depth < depthLimit else { throw fault("nested deeper than \(depthLimit) levels") }
        depth += 1
        let result = try part(&self)
        depth -= 1
        return result
    }

    /// Consumes the next token if the token is `symbol`, or `keyword`, which has the same meaning. Returns true if it
    /// consumed the token.
    private mutating func accept(_ symbol: String, keyword: String? = nil) throws(ChatError) -> Bool {
        switch token {
        case .symbol(symbol): break
        case .word(let word) where keyword != nil && word.lowercased() == keyword: break
        default: return false
        }
        try advance()
        return true
    }

    private mutating func advance() throws(ChatError) { (token, offset) = try lexer.next() }

    private func fault(_ what: String) -> ChatError { lexer.fault(what, at: offset) }

    private var found: String {
        switch token {
        case .number(let digits): "the number \(digits.prefix(40))"
        case .string: "a text"
        case .word(let word): "'\(word.prefix(40))'"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end"
        }
    }
}
