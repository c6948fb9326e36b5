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
    /// What the part says of the element at a position.
    func rules(at position: Int) -> [Rule.ID] {
        if position < prefix.count { return [prefix[position]] }
        return position >= after ? rest.map { [$0] } ?? [] : []
    }
}
