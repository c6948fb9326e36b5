import JSON

extension Planner {
    mutating func objects(
        _ all: Conjunction, marking: Bool, into code: inout [Instruction]
    ) throws(SchemaError) {
        guard all.kinds.contains(.object) else { return }
        let isTyped = all.kinds == .object
        if all.hasObjectTable {
            var groups = Self.grouped(all.objects)
            if groups.isEmpty { groups = [[]] }
            for (position, group) in groups.enumerated() {
                let table = try objectTable(group, position == 0 ? all : Conjunction())
                tables.objects.append(table)
                let operation: Operation = marking ? .markObject : .object
                code.append(Instruction(operation, isTyped: isTyped, a: tables.objects.count - 1))
            }
            requireFurther(all.required, into: &code)
        }
        for (name, needs) in all.dependentNames { code.append(dependentNames(name, needs)) }
        for (name, rule) in all.dependentRules {
            code.append(Instruction(.dependentSchema, a: text(name), b: Int(program([rule]))))
        }
    }

    mutating func dependentNames(_ name: Name, _ needs: [Name]) -> Instruction {
        let first = tables.lists.count
        tables.lists += needs.map { UInt32(clamping: text($0)) }
        return Instruction(.dependentRequired, a: text(name), b: first, c: needs.count)
    }

    /// The maximum number of required names in a table. Each name needs one bit of a word.
    private static var bits: Int { 64 }

    private mutating func requireFurther(_ names: [Name], into code: inout [Instruction]) {
        guard names.count > Self.bits else { return }
        let further = names.dropFirst(Self.bits).map { UInt32(clamping: text($0)) }
        code.append(Instruction(.required, a: tables.lists.count, b: further.count))
        tables.lists += further
    }

    /// Groups the parts that can be checked in a single pass over the members of an object. A part with both `patterns`
    /// and `additional` shares a pass only with parts that have no `additional`.
    private static func grouped(_ parts: [Conjunction.ObjectPart]) -> [[Conjunction.ObjectPart]] {
        var shared: [Conjunction.ObjectPart] = []
        var alone: [[Conjunction.ObjectPart]] = []
        for part in parts {
            if part.additional != nil, !part.patterns.isEmpty { alone.append([part]) } else { shared.append(part) }
        }
        guard !shared.isEmpty else { return alone }
        if let first = alone.first, shared.allSatisfy({ $0.additional == nil }) {
            return [first + shared] + alone.dropFirst()
        }
        return [shared] + alone
    }

    private mutating func objectTable(
        _ parts: [Conjunction.ObjectPart], _ all: Conjunction
    ) throws(SchemaError) -> ObjectTable {
        var result = ObjectTable()
        let required = Array(all.required.prefix(Self.bits))
        let members = try memberSlots(parts, required)
        result.members = table(members)
        result.declared = UInt32(clamping: members.count)
        result.required = required.count == 64 ? .max : (1 << UInt64(required.count)) - 1
        result.patterns = UInt32(clamping: tables.patternRows.count)
        let rows = parts.flatMap { part in
            part.patterns.map { row in
                PatternRow(
                    pattern: UInt32(clamping: row.pattern), program: program(row.rules), covers: part.additional != nil)
            }
        }
        tables.patternRows += rows
        result.patternCount = UInt32(clamping: rows.count)
        let additional = parts.compactMap(\.additional)
        result.hasAdditional = !additional.isEmpty
        result.additional = program(additional.flatMap(\.self))
        result.names = program(all.propertyNames)
        result.minimum = UInt32(clamping: max(all.minProperties, required.count))
        result.maximum = UInt32(clamping: all.maxProperties)
        result.isOpen = rows.isEmpty && result.additional == Programs.pass && result.names == Programs.pass
        if result.additional == Programs.fail, rows.isEmpty { result.maximum = min(result.maximum, result.declared) }
        return result
    }

    /// Returns all names of the parts and all required names, each only once.
    private func known(_ parts: [Conjunction.ObjectPart], _ required: [Name]) -> [Name] {
        var seen: Set<Name> = []
        return (parts.flatMap { $0.names.map(\.name) } + required).filter { seen.insert($0).inserted }
    }

    private mutating func memberSlots(
        _ parts: [Conjunction.ObjectPart], _ required: [Name]
    ) throws(SchemaError) -> [(name: Name, slot: Slot)] {
        let bit = Dictionary(uniqueKeysWithValues: zip(required, required.indices))
        let named = parts.map { part in Dictionary(part.names, uniquingKeysWith: { $0 + $1 }) }
        var members: [(name: Name, slot: Slot)] = []
        for (position, name) in known(parts, required).enumerated() {
            if position % 256 == 255 { try clock.check() }
            var rules: [Rule.ID] = []
            var slot = Slot()
            for (part, named) in zip(parts, named) {
                let demanded = try self.rules(for: name, in: part, named)
                rules += demanded ?? part.additional ?? []
                slot.marks = slot.marks || demanded != nil || part.additional != nil
            }
            slot.program = program(rules)
            slot.required = bit[name].map { 1 << UInt64($0) } ?? 0
            members.append((name, slot))
        }
        return members
    }

    /// Returns the rules of a part for a name: the rules for the name itself and the rules of matching patterns; nil
    /// when there are no such rules.
    private mutating func rules(
        for name: Name, in part: Conjunction.ObjectPart, _ named: [Name: [Rule.ID]]
    ) throws(SchemaError) -> [Rule.ID]? {
        var rules = named[name]
        for row in part.patterns where try matches(patterns[row.pattern], name) { rules = (rules ?? []) + row.rules }
        return rules
    }

    private mutating func matches(_ pattern: Pattern, _ name: Name) throws(SchemaError) -> Bool {
        // The time is checked here, because every name is matched against every pattern, and the limit of a single
        // match does not limit the total time.
        if matching > 20_000 {
            try clock.check()
            matching = 0
        }
        var steps = limits.patternSteps
        defer { matching += 1 + name.bytes.count + limits.patternSteps - steps }
        let verdict = name.bytes.withUnsafeBufferPointer { pattern.matches($0, steps: &steps) }
        if verdict == .exhausted {
            throw SchemaError(
                .limit, "matching a pattern with the schema's member name '\(name.text.quotable)' takes too long")
        }
        return verdict == .match
    }
}
