import JSON

extension KindSet {
    /// Creates the set that contains the kind of a value.
    init(of value: JSONValue) {
        switch value.kind {
        case .object: self = .object
        case .array: self = .array
        case .string: self = .string
        case .integer: self = .written
        case .real: self = KindSet(real: value.double ?? 0)
        case .boolean: self = KindSet(rawValue: value.boolean == true ? 1 << 5 : 1 << 6)
        case .null: self = .null
        }
        // Both kinds of integers are included, because 1 equals 1.0.
        if !isDisjoint(with: .integer) { self = .integer }
    }
}

extension Planner {
    /// Returns the instructions of a conjunction. The cheapest instructions come first, and the instructions that
    /// evaluate members and elements come last.
    ///
    /// - Parameter marking: true when the instructions must also mark the members and elements that they evaluate. Used
    ///   only for the conjunction of a single rule.
    mutating func instructions(for given: Conjunction, marking: Bool = false) throws(SchemaError) -> [Instruction] {
        var all = given
        guard !all.isFalse, !all.kinds.isEmpty else { return [Instruction(.fail)] }
        var code: [Instruction] = []
        if !all.enums.isEmpty {
            guard let listed = try values(&all) else { return [Instruction(.fail)] }
            code += listed
        } else if let first = first(&all) {
            code.append(first)
        }
        scalars(all, into: &code)
        try objects(all, marking: marking, into: &code)
        try arrays(all, marking: marking, into: &code)
        try choices(all, into: &code)
        for rule in all.calls { code.append(Instruction(.call, a: Int(program([rule])))) }
        for rule in all.regions { code.append(Instruction(.region, a: Int(program(.body(rule))))) }
        return code
    }

    // MARK: - Kinds

    /// Returns the instruction that checks the kind of the value. Returns nil when none is needed, because every kind is
    /// allowed or a table checks the kind. If possible, the instruction also checks the length of a string or the range
    /// of a number. The conjunction then no longer contains this requirement.
    private mutating func first(_ all: inout Conjunction) -> Instruction? {
        switch all.kinds {
        case .all: return nil
        case .string where all.minLength > 0 || all.maxLength < .max:
            defer { (all.minLength, all.maxLength) = (0, .max) }
            return Instruction(.string, isTyped: true, a: all.minLength, b: all.maxLength)
        case .integer:
            guard let range = all.range else { break }
            all.range = nil
            return Instruction(.integer, a: number(range))
        case .number:
            guard let range = all.range else { break }
            all.range = nil
            return Instruction(.number, isTyped: true, a: number(range))
        case .object where all.hasObjectTable, .array where all.hasArrayTable:
            // No instruction is needed, because the table itself checks the kind.
            return nil
        default: break
        }
        return Instruction(kinds: all.kinds)
    }

    private mutating func number(_ range: NumberRange) -> Int {
        tables.ranges.append(range)
        return tables.ranges.count - 1
    }

    private mutating func scalars(_ all: Conjunction, into code: inout [Instruction]) {
        if !all.kinds.isDisjoint(with: .number) {
            if let range = all.range { code.append(Instruction(.number, a: number(range))) }
            for divisor in all.divisors {
                code.append(Instruction(.multipleOf, a: tables.divisors.count))
                tables.divisors.append(divisor)
            }
        }
        guard all.kinds.contains(.string) else { return }
        if all.minLength > 0 || all.maxLength < .max {
            code.append(Instruction(.string, a: all.minLength, b: all.maxLength))
        }
        for format in all.formats { code.append(Instruction(.format, a: Int(format.rawValue))) }
        for pattern in all.patterns { code.append(Instruction(.pattern, a: pattern)) }
        for content in all.contents { code.append(Instruction(.content, a: content)) }
    }

    // MARK: - Listed values

    /// Returns the instructions of `const` and `enum`; nil when no value can pass. Restricts the kinds of the
    /// conjunction to the kinds of the listed values.
    private mutating func values(_ all: inout Conjunction) throws(SchemaError) -> [Instruction]? {
        let kinds = all.kinds
        var lists = all.enums.map { list in list.filter { !KindSet(of: $0).isDisjoint(with: kinds) } }
        // If there are several lists, only values that are in all lists can pass.
        let others = lists.dropFirst()
        var list = lists.removeFirst()
        if !others.isEmpty { list = try common(list, others) }
        guard !list.isEmpty else { return nil }
        all.kinds = list.reduce(KindSet()) { $0.union(KindSet(of: $1)) }.intersection(kinds)
        if all.kinds.isSubset(of: [.boolean, .null]) {
            return [Instruction(kinds: all.kinds)]
        }
        if all.kinds == .string { return [strings(list.compactMap(\.string).map(Name.init))] }
        let first = tables.values.count
        tables.values += list.map(\.node)
        var code = [Instruction(.inValues, a: first, b: list.count)]
        // With `type: integer`, for instance, 1.0 of the list can pass and 1.5 cannot.
        if !all.kinds.isSuperset(of: list.reduce(KindSet()) { $0.union(KindSet(of: $1)) }) {
            code.insert(Instruction(kinds: all.kinds), at: 0)
        }
        return code
    }

    private func common(
        _ list: [JSONValue], _ others: ArraySlice<[JSONValue]>
    ) throws(SchemaError) -> [JSONValue] {
        var common: [JSONValue] = []
        for value in list {
            try clock.check()
            let isCommon = others.allSatisfy { $0.contains { PublicAccess.areEqual($0.node, value.node) } }
            if isCommon { common.append(value) }
        }
        return common
    }

    private mutating func strings(_ names: [Name]) -> Instruction {
        let unique = Set(names).sorted()
        if unique.count == 1 { return Instruction(.equalsString, a: text(unique[0])) }
        let set = table(unique.map { ($0, Slot()) })
        tables.sets.append(set)
        return Instruction(.inStrings, a: tables.sets.count - 1)
    }
}

extension Conjunction {
    var hasObjectTable: Bool {
        !objects.isEmpty || !required.isEmpty || minProperties > 0 || maxProperties < .max || !propertyNames.isEmpty
    }

    var hasArrayTable: Bool { !arrays.isEmpty || minItems > 0 || maxItems < .max || isUnique || !contains.isEmpty }
}
