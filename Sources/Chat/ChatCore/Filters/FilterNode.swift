/// A compiled expression. Chains of one operator are one node, so the tree is as deep as the text is nested.
indirect enum FilterNode: Sendable {
    enum Equality: Sendable { case equal, unequal }
    enum Order: Sendable { case less, greater, lessOrEqual, greaterOrEqual }

    case any([FilterNode])
    case all([FilterNode])
    case not(FilterNode)
    case equality(FilterNode, Equality, FilterNode)
    case order(FilterNode, Order, FilterNode)
    /// With a literal on the right: prepared once.
    case like(FilterNode, WildcardPattern)
    case likeValue(FilterNode, FilterNode)
    case contains(FilterNode, FilterNode)
    /// From left to right.
    case arithmetic(FilterNode, [(FilterArithmetic, FilterNode)])
    case complement(FilterNode)
    case negative(FilterNode)
    case literal(FilterValue)
    case name(FilterSource)
    case list([FilterNode])

    /// The node as a condition.
    func holds(for subject: FilterSubject) -> Bool {
        switch self {
        case .any(let nodes): nodes.contains { $0.holds(for: subject) }
        case .all(let nodes): nodes.allSatisfy { $0.holds(for: subject) }
        case .not(let node): !node.holds(for: subject)
        case .equality(let left, let operation, let right):
            left.value(for: subject).equals(right.value(for: subject)) == (operation == .equal)
        case .order(let left, let order, let right):
            left.value(for: subject).compare(right.value(for: subject), order.holds)
        case .like(.name(let source), let pattern):
            subject.folded(source).map(pattern.matches(folded:)) ?? subject.value(of: source).matches(pattern)
        case .like(let left, let pattern): left.value(for: subject).matches(pattern)
        case .likeValue(let left, let right):
            if let pattern = right.value(for: subject).string {
                left.value(for: subject).matches(WildcardPattern(text: pattern))
            } else {
                false
            }
        case .contains(.name(let source), .literal(.string(let part))):
            subject.folded(source).map { SubstringSearch(FoldedText.bytes(part)).occurs(in: $0) }
                ?? subject.value(of: source).contains(.string(part))
        case .contains(let left, let right): left.value(for: subject).contains(right.value(for: subject))
        case .arithmetic, .complement, .negative, .literal, .name, .list: value(for: subject).isTrue
        }
    }

    /// The node as an operand.
    func value(for subject: FilterSubject) -> FilterValue {
        switch self {
        case .literal(let value): return value
        case .name(let source): return subject.value(of: source)
        case .list(let nodes): return .set(nodes.map { $0.value(for: subject) })
        case .complement(let node):
            return node.value(for: subject).number?.bits.map { .number(.integer(~$0)) } ?? .undefined
        case .negative(let node):
            let number = node.value(for: subject).number
            return number.flatMap { FilterArithmetic.subtract.apply(.integer(0), $0) }.map { .number($0) } ?? .undefined
        case .arithmetic(let first, let rest):
            var result = first.value(for: subject).number
            for (operation, node) in rest {
                guard let left = result, let right = node.value(for: subject).number else { return .undefined }
                result = operation.apply(left, right)
            }
            return result.map { .number($0) } ?? .undefined
        case .any, .all, .not, .equality, .order, .like, .likeValue, .contains:
            return .boolean(holds(for: subject))
        }
    }
}

extension FilterNode.Order {
    func holds(_ left: FilterNumber, _ right: FilterNumber) -> Bool {
        switch self {
        case .less: left < right
        case .greater: left > right
        case .lessOrEqual: left <= right
        case .greaterOrEqual: left >= right
        }
    }
}
