import ChatModel

/// A node of a compiled expression. A chain of one operator is a single node, so the tree is only as deep as the
/// parentheses and prefix operators of the text.
indirect enum FilterNode: Sendable {
    enum Equality: Sendable { case equal, unequal }
    enum Order: Sendable { case less, greater, lessOrEqual, greaterOrEqual }

    case any([FilterNode])
    case all([FilterNode])
    case not(FilterNode)
    case equality(FilterNode, Equality, FilterNode)
    case order(FilterNode, Order, FilterNode)
    /// `LIKE` with a literal pattern on the right side, which is parsed when the filter is compiled. For any other
    /// right side, see `likeValue`.
    case like(FilterNode, WildcardPattern)
    case likeValue(FilterNode, FilterNode)
    case contains(FilterNode, FilterNode)
    /// A chain of arithmetic operators, evaluated from left to right.
    case arithmetic(FilterNode, [(FilterArithmetic, FilterNode)])
    case complement(FilterNode)
    case negative(FilterNode)
    case literal(FilterValue)
    case name(FilterSource)
    case list([FilterNode])

    /// The cost of evaluating one node, in steps.
    private static let partSteps = 8

    /// Evaluates the node as a condition.
    func holds(for subject: FilterSubject) -> Bool {
        guard subject.spend(Self.partSteps) else { return false }
        switch self {
        case .any(let nodes): return nodes.contains { $0.holds(for: subject) }
        case .all(let nodes): return nodes.allSatisfy { $0.holds(for: subject) }
        case .not(let node): return !node.holds(for: subject)
        case .equality(let left, let operation, let right):
            return Self.areEqual(left, right, subject).map { $0 == (operation == .equal) } ?? false
        case .order(let left, let order, let right):
            if let one = left.number(for: subject) {
                return right.number(for: subject).map { order.holds(one, $0) } ?? false
            }
            guard let one = left.time(for: subject), let other = right.time(for: subject) else { return false }
            return order.holds(one, other)
        case .like(let left, let pattern): return left.matches(pattern, subject)
        case .likeValue(let left, let right):
            return right.pattern(for: subject).map { left.matches($0, subject) } ?? false
        case .contains(let left, let right): return left.contains(right, subject)
        case .arithmetic, .complement, .negative, .literal, .name, .list: return value(for: subject).isTrue
        }
    }

    /// Evaluates the node as an operand.
    func value(for subject: FilterSubject) -> FilterValue {
        guard subject.spend(Self.partSteps) else { return .undefined }
        switch self {
        case .literal(let value): return value
        case .name(let source): return subject.value(of: source)
        case .list(let nodes): return .set(nodes.map { $0.value(for: subject) })
        case .complement(let node):
            return node.number(for: subject)?.bits.map { .number(.integer(~$0)) } ?? .undefined
        case .negative(let node):
            let number = node.number(for: subject)
            return number.flatMap { FilterArithmetic.subtract.apply(.integer(0), $0) }.map { .number($0) } ?? .undefined
        case .arithmetic(let first, let rest):
            var result = first.number(for: subject)
            for (operation, node) in rest {
                guard let left = result, let right = node.number(for: subject) else { return .undefined }
                result = operation.apply(left, right)
            }
            return result.map { .number($0) } ?? .undefined
        case .any, .all, .not, .equality, .order, .like, .likeValue, .contains:
            return .boolean(holds(for: subject))
        }
    }

    /// Evaluates the node as a number; a text that contains a number counts as that number. Nil for any other value.
    /// The number in a long text of the event is parsed once for all filters.
    private func number(for subject: FilterSubject) -> FilterNumber? {
        if case .name(let source) = self { return subject.spend(Self.partSteps) ? subject.number(of: source) : nil }
        return value(for: subject).number(subject)
    }

    /// Evaluates the node as a time: the timetoken of a text in RFC 3339 format. Nil for any other value.
    private func time(for subject: FilterSubject) -> FilterNumber? {
        guard let text = value(for: subject).string, Self.timeBytes.contains(text.utf8.count),
            subject.spend(text.utf8.count), let moment = Timestamp.read(text)
        else { return nil }
        return .integer(Int64(clamping: moment.rawValue))
    }

    /// The possible lengths in bytes of a text in RFC 3339 format: from `2030-01-31T12:00:00Z` to a time with nine
    /// fractional digits and an offset.
    private static let timeBytes = 20...35

    /// Returns the result of `==`; nil when the operands cannot be compared. In that case, both `==` and `!=` are
    /// false.
    private static func areEqual(_ left: FilterNode, _ right: FilterNode, _ subject: FilterSubject) -> Bool? {
        let (one, other) = (left.value(for: subject), right.value(for: subject))
        switch (one.single, other.single) {
        case (.string, .number), (.number, .string):
            let (one, other) = (left.number(one, subject), right.number(other, subject))
            return if let one, let other { one == other } else { false }
        default: return one.equals(other, subject)
        }
    }

    /// Returns the number in `value`, which is the result of evaluating this node; nil when it contains none. The
    /// number in a long text of the event is parsed once for all filters.
    private func number(_ value: FilterValue, _ subject: FilterSubject) -> FilterNumber? {
        if case .name(let source) = self { return subject.number(of: source) }
        return value.number(subject)
    }

    private func pattern(for subject: FilterSubject) -> WildcardPattern? {
        if case .name(let source) = self { return subject.spend(Self.partSteps) ? subject.pattern(source) : nil }
        guard let text = value(for: subject).string, subject.spend(4 * text.utf8.count) else { return nil }
        return WildcardPattern(text: text)
    }

    private func matches(_ pattern: WildcardPattern, _ subject: FilterSubject) -> Bool {
        if case .name(let source) = self, let text = subject.folded(source) {
            return subject.spend(Self.partSteps + text.count) && pattern.matches(folded: text)
        }
        return value(for: subject).matches(pattern, subject)
    }

    private func contains(_ wanted: FilterNode, _ subject: FilterSubject) -> Bool {
        let value = value(for: subject)
        let sought = wanted.value(for: subject)
        guard case .string(let text) = value, case .string(let part) = sought.single else {
            return value.contains(sought, subject)
        }
        guard subject.spend(text.utf8.count + 2 * part.utf8.count) else { return false }
        return SubstringSearch(wanted.folded(part, subject)).occurs(in: folded(text, subject))
    }

    /// Returns the case-folded UTF-8 bytes of `text`, which is the result of evaluating this node. A long text of the
    /// event is folded once for all filters.
    private func folded(_ text: String, _ subject: FilterSubject) -> [UInt8] {
        if case .name(let source) = self, let folded = subject.folded(source) { return folded }
        return CaseInsensitiveText.bytes(text)
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
