import JSON

/// Translates rules into the programs and tables of a plan.
///
/// There is one program for each set of rules that a value must satisfy together. All references to the set share the
/// program, so recursion is a call of an existing program.
struct Planner {
    let rules: [Rule]
    let patterns: [Pattern]
    let evaluated: Evaluated
    let shapes: Shapes
    let limits: SchemaLimits
    let clock: CompileClock

    var tables = PlanTables()
    /// The index of the first instruction of each program. It is set when the program is written.
    private var entries: [UInt32] = []
    private var ids: [Request: UInt32] = [:]
    private var queue: [Request] = []
    private var textFor: [Name: Int] = [:]
    /// The amount of work for matching names against patterns since the time limit was last checked.
    var matching = 0

    /// The key that identifies a program.
    enum Request: Hashable {
        /// The program that checks all of these rules, which are in ascending order.
        case all([Rule.ID])
        /// The program that checks the rule and marks the members and elements that the rule evaluates.
        case marked(Rule.ID)
        /// The program of a rule with `unevaluated*` keywords, which are checked last. The program begins with an empty
        /// set of marks.
        case body(Rule.ID)
        /// The program of the rule for a value whose member a switch has already checked: the value of the member is
        /// one of the strings that the rule lists.
        case told(Rule.ID, Name)
        /// The program that checks that at least one of the rules passes, or exactly one if `exclusive`. Used when the
        /// string of a member does not determine the only rule that can pass.
        case choice([Rule.ID], exclusive: Bool)
    }

    init(
        _ rules: [Rule], order: [Rule.ID], patterns: [Pattern], limits: SchemaLimits, clock: CompileClock
    ) throws(SchemaError) {
        self.rules = rules
        self.patterns = patterns
        self.limits = limits
        self.clock = clock
        evaluated = try Evaluated(rules, order: order, clock: clock)
        shapes = Shapes(rules, order: order)
    }

    /// Creates the plan for rule 0. Its program starts at `entry`.
    mutating func plan() throws(SchemaError) -> (plan: Plan, entry: UInt32) {
        var pass = Instruction(.pass)
        pass.isLast = true
        var fail = Instruction(.fail)
        fail.isLast = true
        tables.code = [pass, fail]
        entries = [Programs.pass, Programs.fail]
        let root = program([0])
        var next = 0
        while next < queue.count {
            try checkLimits()
            try write(queue[next])
            next += 1
        }
        try checkLimits()
        resolveEntries()
        link()
        let plan = Plan(tables, patterns: patterns)
        guard plan.byteCount <= limits.planBytes else { throw tooLarge() }
        return (plan, entries[Int(root)] * UInt32(MemoryLayout<Instruction>.stride))
    }

    private func checkLimits() throws(SchemaError) {
        try clock.check()
        if tables.rows > limits.planInstructions { throw tooLarge() }
    }

    private func tooLarge() -> SchemaError {
        SchemaError(
            .limit,
            "the compiled schema is larger than \(limits.planInstructions) instructions or \(limits.planBytes) bytes")
    }

    // MARK: - Programs

    /// Returns the number of the program that checks all of these rules. Creates the program if it does not exist.
    mutating func program(_ rules: [Rule.ID]) -> UInt32 {
        let needed = Set(rules.map(shapes.target)).filter { !shapes.isTrivial($0) }
        if needed.isEmpty { return Programs.pass }
        if needed.contains(where: { self.rules[$0].isFalse }) { return Programs.fail }
        return program(.all(needed.sorted()))
    }

    mutating func program(_ request: Request) -> UInt32 {
        if let known = ids[request] { return known }
        let id = UInt32(entries.count)
        entries.append(.max)
        ids[request] = id
        queue.append(request)
        return id
    }

    private mutating func write(_ request: Request) throws(SchemaError) {
        guard let id = ids[request] else { return }
        var code: [Instruction]
        switch request {
        case .all(let rules):
            var gatherer = ConjunctionBuilder(rules: self.rules, shapes: shapes, evaluated: evaluated)
            code = try instructions(for: gatherer.gather(rules))
        case .told(let rule, let member):
            var gatherer = ConjunctionBuilder(rules: rules, shapes: shapes, evaluated: evaluated)
            code = try instructions(for: gatherer.gather([rule]).trusting(member))
        case .marked(let rule): code = try marked(rule)
        case .body(let rule): code = try body(rule)
        case .choice(let rules, let exclusive): code = [generalChoice(rules, exclusive: exclusive)]
        }
        if code.isEmpty { code = [Instruction(.pass)] }
        code[code.count - 1].isLast = true
        code[0].isSimple = code.count == 1 && code[0].operation.isLeaf
        entries[Int(id)] = UInt32(tables.code.count)
        tables.code += code
    }

    // MARK: - Linking

    /// Replaces each program that only calls another program with the called program.
    private mutating func resolveEntries() {
        func alias(_ id: UInt32) -> UInt32? {
            let first = tables.code[Int(entries[Int(id)])]
            guard first.isLast else { return nil }
            switch first.operation {
            case .pass: return Programs.pass
            case .fail: return Programs.fail
            case .call: return first.a
            default: return nil
            }
        }
        var final = entries
        for id in entries.indices {
            var at = UInt32(id)
            // The loop ends, because cycles on the same value were rejected. The limit is an additional safeguard.
            for _ in 0..<entries.count {
                guard let next = alias(at), next != at else { break }
                at = next
            }
            final[id] = entries[Int(at)]
        }
        entries = final
    }

    /// Replaces program numbers with the indexes of their first instructions.
    private mutating func link() {
        func settle(_ program: inout UInt32) { program = entries[Int(program)] }
        for at in tables.code.indices {
            for operand in tables.code[at].operation.programs { settle(&tables.code[at][keyPath: operand]) }
        }
        for at in tables.slots.indices { settle(&tables.slots[at].program) }
        for at in tables.objects.indices {
            settle(&tables.objects[at].additional)
            settle(&tables.objects[at].names)
        }
        for at in tables.patternRows.indices { settle(&tables.patternRows[at].program) }
        for at in tables.arrays.indices { settle(&tables.arrays[at].rest) }
        for at in tables.contains.indices { settle(&tables.contains[at].program) }
        for at in tables.programs.indices { settle(&tables.programs[at]) }
        for at in tables.branches.indices { settle(&tables.branches[at].program) }
        for at in tables.switches.indices { settle(&tables.switches[at].otherwise) }
    }

    // MARK: - Texts

    /// Returns the number of a text in the plan. Adds the text if it is new.
    mutating func text(_ name: Name) -> Int {
        if let known = textFor[name] { return known }
        textFor[name] = tables.texts.count
        tables.texts.append(entry(name))
        return tables.texts.count - 1
    }

    private mutating func entry(_ name: Name) -> PlanText {
        let words = name.bytes.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { NameWords($0, buffer.count) } ?? NameWords()
        }
        let text = PlanText(
            words: words, length: UInt32(clamping: name.bytes.count), offset: UInt32(clamping: tables.bytes.count))
        tables.bytes += name.bytes
        return text
    }

    /// Returns a hash table of the members, with the multiplier that causes the fewest collisions, usually none.
    mutating func table(_ members: [(name: Name, slot: Slot)]) -> TextTable {
        var slots = members.map { member in
            var slot = member.slot
            slot.name = entry(member.name)
            return slot
        }
        // The members are sorted, so that the table does not depend on their order in the schema.
        slots.sort { ($0.name.length, $0.name.words.first) < ($1.name.length, $1.name.words.first) }
        var table = TextTable()
        var bits: UInt64 = 1
        while 1 << bits < members.count * 2 { bits += 1 }
        table.first = UInt32(clamping: tables.slots.count)
        (table.multiplier, bits) = Self.spread(slots.map { $0.name.words.mixed(Int($0.name.length)) }, bits)
        table.shift = 64 - bits
        table.mask = UInt32(1 << bits) - 1
        var placed = [Slot](repeating: Slot(), count: 1 << bits)
        for slot in slots {
            var at = table.home(slot.name.words, Int(slot.name.length))
            while placed[at].name.length != .max { at = (at + 1) & Int(table.mask) }
            placed[at] = slot
        }
        tables.slots += placed
        return table
    }

    /// Tries the multipliers of a fixed sequence. Returns the multiplier that causes the fewest collisions, and the
    /// binary logarithm of the table's size. For at most 64 members, also tries tables of two and four times the given
    /// size.
    private static func spread(_ hashes: [UInt64], _ bits: UInt64) -> (multiplier: UInt64, bits: UInt64) {
        var best = (multiplier: UInt64(0x9E37_79B9_7F4A_7C15), bits: bits, collisions: Int.max)
        for extra in 0...(hashes.count <= 64 ? UInt64(2) : 0) {
            var multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
            for _ in 0..<(hashes.count <= 64 ? 64 : 4) {
                var taken = Set<UInt64>()
                let collisions = hashes.count { !taken.insert(($0 &* multiplier) &>> (64 - bits - extra)).inserted }
                if collisions < best.collisions { best = (multiplier, bits + extra, collisions) }
                if collisions == 0 { return (multiplier, bits + extra) }
                multiplier = multiplier &* 0xD134_2543_DE82_EF95 | 1
            }
        }
        return (best.multiplier, best.bits)
    }
}
