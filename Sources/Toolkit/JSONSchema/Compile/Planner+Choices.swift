import JSON

extension Planner {
    mutating func choices(_ all: Conjunction, into code: inout [Instruction]) throws(SchemaError) {
        for choice in all.choices {
            switch choice {
            case .any(let rules): code.append(branch(rules, exclusive: false, all))
            case .one(let rules): code.append(branch(rules, exclusive: true, all))
            case .not(let rule): code.append(Instruction(.not, a: Int(program([rule]))))
            case .conditional(let test, let then, let otherwise):
                code.append(
                    Instruction(
                        .conditional, a: Int(program([test])), b: Int(program(then.map { [$0] } ?? [])),
                        c: Int(program(otherwise.map { [$0] } ?? []))))
            }
        }
    }

    private mutating func branch(_ rules: [Rule.ID], exclusive: Bool, _ all: Conjunction) -> Instruction {
        let possible = rules.filter { !shapes.kinds[$0].isDisjoint(with: all.kinds) }
        guard !possible.isEmpty else { return Instruction(.fail) }
        if possible.count == 1 { return Instruction(.call, a: Int(program(possible))) }
        if let told = Discriminator(possible, self) { return select(told, possible, exclusive, all) }
        return generalChoice(possible, exclusive: exclusive)
    }

    mutating func generalChoice(_ rules: [Rule.ID], exclusive: Bool) -> Instruction {
        let rows = rules.map { Branch(program: program([$0]), kinds: shapes.kinds[$0]) }
        let first = tables.branches.count
        tables.branches += rows
        return Instruction(exclusive ? .oneOf : .anyOf, a: first, b: rows.count)
    }

    private mutating func select(
        _ told: Discriminator, _ rules: [Rule.ID], _ exclusive: Bool, _ all: Conjunction
    ) -> Instruction {
        var rows: [(name: Name, slot: Slot)] = []
        for (rule, values) in zip(rules, told.values) {
            let program = program(told.isEnough ? .told(rule, told.member) : .all([rule]))
            for value in values {
                var slot = Slot()
                slot.program = program
                rows.append((value, slot))
            }
        }
        var row = SwitchTable(member: UInt32(clamping: text(told.member)))
        row.values = table(rows)
        let alwaysObject = all.kinds == .object || rules.allSatisfy { shapes.kinds[$0] == .object }
        row.otherwise = alwaysObject ? Programs.fail : program(.choice(rules, exclusive: exclusive))
        tables.switches.append(row)
        return Instruction(.selectBranch, a: tables.switches.count - 1)
    }
}

/// A discriminator: a member that each branch requires, for which each branch lists different strings. The value of the
/// member determines the only branch that can pass.
struct Discriminator {
    let member: Name
    /// The strings that each branch lists for the member.
    let values: [[Name]]
    /// True when the only requirement of the branches on the member is that its value is one of these strings.
    let isEnough: Bool

    init?(_ branches: [Rule.ID], _ planner: Planner) {
        guard branches.count > 1 else { return nil }
        var listed: [[Name: Strings]] = []
        for branch in branches {
            let strings = Self.strings(of: branch, planner)
            guard !strings.isEmpty else { return nil }
            listed.append(strings)
        }
        for candidate in listed[0].keys.sorted() {
            let strings = listed.compactMap { $0[candidate] }
            guard strings.count == branches.count else { continue }
            let all = strings.flatMap(\.names)
            guard Set(all).count == all.count else { continue }
            member = candidate
            values = strings.map(\.names)
            isEnough = strings.allSatisfy(\.isAll)
            return
        }
        return nil
    }

    /// The strings that a branch of a choice permits as the value of a member. `isAll` is true if the branch has no
    /// other requirement on a string in this member.
    private struct Strings {
        let names: [Name]
        let isAll: Bool
    }

    /// Returns the names of the required members whose value must be one of the strings that a branch lists. Each name
    /// is returned with these strings.
    private static func strings(of branch: Rule.ID, _ planner: Planner) -> [Name: Strings] {
        let all = gathered([branch], planner)
        let required = Set(all.required)
        var strings: [Name: Strings] = [:]
        for part in all.objects {
            for (name, rules) in part.names where required.contains(name) && strings[name] == nil {
                let member = gathered(rules, planner)
                guard let values = member.enums.first else { continue }
                let texts = values.compactMap(\.string)
                guard texts.count == values.count else { continue }
                strings[name] = Strings(names: Set(texts.map(Name.init)).sorted(), isAll: member.onlyListsStrings)
            }
        }
        return strings
    }

    private static func gathered(_ rules: [Rule.ID], _ planner: Planner) -> Conjunction {
        var gatherer = ConjunctionBuilder(rules: planner.rules, shapes: planner.shapes, evaluated: planner.evaluated)
        return gatherer.gather(rules)
    }
}

extension Conjunction {
    /// True when these requirements accept a string if and only if `enum` or `const` lists it.
    fileprivate var onlyListsStrings: Bool {
        enums.count == 1 && kinds.contains(.string) && !isFalse && minLength == 0 && maxLength == .max
            && patterns.isEmpty && formats.isEmpty && contents.isEmpty && choices.isEmpty && calls.isEmpty
            && regions.isEmpty
    }

    /// Returns the conjunction without its requirements on a member whose string a switch has already checked. If
    /// several object parts contain the name of the member, returns the conjunction unchanged, because the switch has
    /// not checked the requirements of all these parts.
    func trusting(_ member: Name) -> Conjunction {
        var trusting = self
        let speaking = objects.indices.filter { part in objects[part].names.contains { $0.name == member } }
        guard speaking.count == 1, let part = speaking.first,
            let place = objects[part].names.firstIndex(where: { $0.name == member })
        else { return self }
        trusting.objects[part].names[place].rules = []
        return trusting
    }
}

extension Planner {
    mutating func arrays(
        _ all: Conjunction, marking: Bool, into code: inout [Instruction]
    ) throws(SchemaError) {
        guard all.kinds.contains(.array), all.hasArrayTable else { return }
        var table = ArrayTable()
        table.minimum = UInt32(clamping: all.minItems)
        table.maximum = UInt32(clamping: all.maxItems)
        table.isUnique = all.isUnique
        let count = all.arrays.reduce(0) { max($0, $1.prefix.count, $1.rest == nil ? 0 : $1.after) }
        let prefix = (0..<count).map { position in program(all.arrays.flatMap { $0.rules(at: position) }) }
        table.prefix = UInt32(clamping: tables.programs.count)
        table.prefixCount = UInt32(clamping: count)
        tables.programs += prefix
        let rest = all.arrays.compactMap(\.rest)
        table.hasRest = !rest.isEmpty
        table.rest = program(rest)
        if table.rest == Programs.fail { table.maximum = min(table.maximum, table.prefixCount) }
        let rows = all.contains.filter { $0.minimum > 0 || $0.maximum < .max || marking }.map { part in
            ContainsRow(
                program: program([part.rule]), minimum: UInt32(clamping: part.minimum),
                maximum: UInt32(clamping: part.maximum), marks: part.marks)
        }
        table.contains = UInt32(clamping: tables.contains.count)
        table.containsCount = UInt32(clamping: rows.count)
        tables.contains += rows
        tables.arrays.append(table)
        let operation: Operation = marking ? .markArray : .array
        code.append(Instruction(operation, isTyped: all.kinds == .array, a: tables.arrays.count - 1))
    }
}

extension Conjunction.ArrayPart {
    /// Returns the rules of this part for the element at a position.
    func rules(at position: Int) -> [Rule.ID] {
        if position < prefix.count { return [prefix[position]] }
        return position >= after ? rest.map { [$0] } ?? [] : []
    }
}
