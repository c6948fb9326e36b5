/// The layout of a plan's block: the offset of each table.
struct PlanLayout {
    private(set) var size = 0

    struct Place<Row> {
        let offset: Int

        /// Converts a row number into an offset from the start of the block.
        func resolve(_ number: inout UInt32) {
            number = UInt32(clamping: offset + Int(number) * MemoryLayout<Row>.stride)
        }

        func copy(_ rows: [Row], to block: UnsafeMutableRawPointer) {
            let start = (block + offset).bindMemory(to: Row.self, capacity: rows.count)
            rows.withUnsafeBufferPointer { buffer in
                guard let source = buffer.baseAddress else { return }
                start.initialize(from: source, count: buffer.count)
            }
        }
    }

    /// The location of the instructions. They are at the start of the block, so that the program that accepts every
    /// value has both the number 0 and the offset 0.
    let code: Place<Instruction>
    let slots: Place<Slot>
    let objects: Place<ObjectTable>
    let patternRows: Place<PatternRow>
    let arrays: Place<ArrayTable>
    let contains: Place<ContainsRow>
    let programs: Place<UInt32>
    let lists: Place<UInt32>
    let branches: Place<Branch>
    let switches: Place<SwitchTable>
    let ranges: Place<NumberRange>
    let divisors: Place<Divisor>
    let texts: Place<PlanText>
    let sets: Place<TextTable>
    let values: Place<Node>
    let patterns: Place<Unmanaged<Pattern>>
    let bytes: Place<UInt8>

    init(_ tables: PlanTables, patterns count: Int) {
        var size = 0
        func next<Row>(_ count: Int, _ type: Row.Type) -> Place<Row> {
            // Each table is aligned to 64 bytes, so that tables do not share cache lines.
            let offset = (size + 63) & ~63
            size = offset + count * MemoryLayout<Row>.stride
            return Place(offset: offset)
        }
        code = next(tables.code.count, Instruction.self)
        slots = next(tables.slots.count, Slot.self)
        objects = next(tables.objects.count, ObjectTable.self)
        patternRows = next(tables.patternRows.count, PatternRow.self)
        arrays = next(tables.arrays.count, ArrayTable.self)
        contains = next(tables.contains.count, ContainsRow.self)
        programs = next(tables.programs.count, UInt32.self)
        lists = next(tables.lists.count, UInt32.self)
        branches = next(tables.branches.count, Branch.self)
        switches = next(tables.switches.count, SwitchTable.self)
        ranges = next(tables.ranges.count, NumberRange.self)
        divisors = next(tables.divisors.count, Divisor.self)
        texts = next(tables.texts.count, PlanText.self)
        sets = next(tables.sets.count, TextTable.self)
        values = next(tables.values.count, Node.self)
        patterns = next(count, Unmanaged<Pattern>.self)
        bytes = next(tables.bytes.count, UInt8.self)
        self.size = size
    }
}

extension PlanTables {
    /// Converts all row numbers in the tables into offsets.
    mutating func place(by layout: PlanLayout) {
        for at in arrays.indices { arrays[at].restWay = MatchStrategy(code[Int(arrays[at].rest)]) }
        for at in slots.indices {
            let first = code[Int(slots[at].program)]
            slots[at].way = MatchStrategy(first)
            slots[at].kinds = first.operation == .kinds ? UInt8(truncatingIfNeeded: first.b) : 0
            layout.code.resolve(&slots[at].program)
            if slots[at].name.length != .max { layout.bytes.resolve(&slots[at].name.offset) }
        }
        for at in code.indices { code[at].place(by: layout) }
        for at in texts.indices { layout.bytes.resolve(&texts[at].offset) }
        for at in sets.indices { layout.slots.resolve(&sets[at].first) }
        for at in lists.indices { layout.texts.resolve(&lists[at]) }
        for at in programs.indices { layout.code.resolve(&programs[at]) }
        for at in branches.indices { layout.code.resolve(&branches[at].program) }
        for at in contains.indices { layout.code.resolve(&contains[at].program) }
        for at in patternRows.indices {
            layout.code.resolve(&patternRows[at].program)
            layout.patterns.resolve(&patternRows[at].pattern)
        }
        placeTables(by: layout)
    }

    private mutating func placeTables(by layout: PlanLayout) {
        for at in objects.indices {
            layout.slots.resolve(&objects[at].members.first)
            layout.patternRows.resolve(&objects[at].patterns)
            layout.code.resolve(&objects[at].additional)
            layout.code.resolve(&objects[at].names)
        }
        for at in arrays.indices {
            layout.programs.resolve(&arrays[at].prefix)
            layout.code.resolve(&arrays[at].rest)
            layout.contains.resolve(&arrays[at].contains)
        }
        for at in switches.indices {
            layout.texts.resolve(&switches[at].member)
            layout.slots.resolve(&switches[at].values.first)
            layout.code.resolve(&switches[at].otherwise)
        }
    }

    func copy(to block: UnsafeMutableRawPointer, by layout: PlanLayout) {
        layout.code.copy(code, to: block)
        layout.slots.copy(slots, to: block)
        layout.objects.copy(objects, to: block)
        layout.patternRows.copy(patternRows, to: block)
        layout.arrays.copy(arrays, to: block)
        layout.contains.copy(contains, to: block)
        layout.programs.copy(programs, to: block)
        layout.lists.copy(lists, to: block)
        layout.branches.copy(branches, to: block)
        layout.switches.copy(switches, to: block)
        layout.ranges.copy(ranges, to: block)
        layout.divisors.copy(divisors, to: block)
        layout.texts.copy(texts, to: block)
        layout.sets.copy(sets, to: block)
        layout.values.copy(values, to: block)
        layout.bytes.copy(bytes, to: block)
    }
}

extension Instruction {
    fileprivate mutating func place(by layout: PlanLayout) {
        switch operation {
        case .integer, .number: layout.ranges.resolve(&a)
        case .equalsString: layout.texts.resolve(&a)
        case .inStrings: layout.sets.resolve(&a)
        case .multipleOf: layout.divisors.resolve(&a)
        case .pattern: layout.patterns.resolve(&a)
        case .inValues: layout.values.resolve(&a)
        case .object, .markObject: layout.objects.resolve(&a)
        case .required: layout.lists.resolve(&a)
        case .dependentRequired:
            layout.texts.resolve(&a)
            layout.lists.resolve(&b)
        case .dependentSchema:
            layout.texts.resolve(&a)
            layout.code.resolve(&b)
        case .array, .markArray: layout.arrays.resolve(&a)
        case .anyOf, .oneOf, .markAnyOf, .markOneOf: layout.branches.resolve(&a)
        case .selectBranch: layout.switches.resolve(&a)
        case .call, .not, .region, .unevaluatedMembers, .unevaluatedElements: layout.code.resolve(&a)
        case .conditional, .markConditional:
            layout.code.resolve(&a)
            layout.code.resolve(&b)
            layout.code.resolve(&c)
        case .pass, .fail, .kinds, .string, .format, .content: break
        }
    }
}
