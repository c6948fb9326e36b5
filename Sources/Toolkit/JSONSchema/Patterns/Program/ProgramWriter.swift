extension Pattern {
    /// Writes a tree as a program.
    ///
    /// For automaton and simulation only what may be matched counts, so captures, their resetting, and the rule that a
    /// round of a loop must take something are left out: none of them changes which texts match.
    struct ProgramWriter {
        private(set) var program = Program()
        private let syntax: Syntax
        private let limits: PatternLimits
        private let backtracks: Bool
        private let keepsGroups: Bool
        private var isBackward = false
        private var setNumbers: [ScalarSet: Int] = [:]
        private var classNumbers: [CharacterClass: Int] = [:]
        private var rangeCount = 0

        init(_ syntax: Syntax, limits: PatternLimits, backtracks: Bool) {
            self.syntax = syntax
            self.limits = limits
            self.backtracks = backtracks
            keepsGroups = backtracks && syntax.root.refersBack
            if keepsGroups { program.slotCount = 2 * (syntax.groupCount + 1) }
        }

        mutating func write() throws(PatternError) -> Program {
            try write(syntax.root)
            try add(.match)
            program.isAnchored = !program.isReachableWithoutTextStart()
            return program
        }
    }
}

extension Pattern.ProgramWriter {
    private typealias Instruction = Pattern.Instruction

    private var here: Int32 { Int32(program.instructions.count) }

    private mutating func add(_ code: Instruction.Code, _ a: Int32 = 0, _ b: Int32 = 0) throws(PatternError) {
        try add(Instruction(code: code, a: a, b: b))
    }

    private mutating func add(_ instruction: Instruction) throws(PatternError) {
        guard program.instructions.count < limits.states else { throw tooLarge }
        program.instructions.append(instruction)
    }

    private var tooLarge: PatternError {
        PatternError(message: "the pattern is too large once its repeats are written out", offset: 0)
    }

    private mutating func write(_ node: Pattern.Node) throws(PatternError) {
        switch node {
        case .empty: break
        case .scalar(let scalar): try take(try number(of: Pattern.ScalarSet([scalar...scalar])))
        case .set(let characters): try take(try number(of: characters))
        case .sequence(let nodes):
            for node in isBackward ? nodes.reversed() : nodes { try write(node) }
        case .choice(let nodes): try write(choice: nodes)
        case .loop(let repetition, let node): try write(repetition, node)
        case .group(let number, let node): try write(group: number, node)
        case .backReference(let group): try write(reference: group)
        case .namedReference(let place): try write(reference: syntax.references[place])
        case .edge(let edge): try write(edge)
        case .look(let look, let node): try write(look, node)
        }
    }

    private mutating func write(_ edge: Pattern.Edge) throws(PatternError) {
        switch edge {
        case .textStart: try add(.textStart)
        case .textEnd: try add(.textEnd)
        case .wordEdge: try add(.wordEdge)
        case .noWordEdge: try add(.noWordEdge)
        }
    }

    private mutating func take(_ set: Int32) throws(PatternError) {
        try add(Instruction(code: .take, isBackward: isBackward, a: set))
    }

    private mutating func write(choice nodes: [Pattern.Node]) throws(PatternError) {
        var ends: [Int32] = []
        for (index, node) in nodes.enumerated() {
            guard index < nodes.count - 1 else {
                try write(node)
                break
            }
            let split = here
            try add(.split, split + 1)
            try write(node)
            ends.append(here)
            try add(.jump)
            program.instructions[Int(split)].b = here
        }
        for end in ends { program.instructions[Int(end)].a = here }
    }

    private mutating func write(group: Int, _ node: Pattern.Node) throws(PatternError) {
        guard keepsGroups else { return try write(node) }
        let slot = Int32(2 * group)
        try add(.save, isBackward ? slot + 1 : slot)
        try write(node)
        try add(.save, isBackward ? slot : slot + 1)
    }

    private mutating func write(reference group: Int) throws(PatternError) {
        try add(Instruction(code: .reference, isBackward: isBackward, a: Int32(2 * group)))
    }

    private mutating func write(_ look: Pattern.Look, _ node: Pattern.Node) throws(PatternError) {
        let start = Int(here)
        try add(Instruction(code: .look, flag: look.isNegated))
        let outer = isBackward
        isBackward = look.isBehind
        try write(node)
        isBackward = outer
        try add(.lookEnd)
        program.instructions[start].a = here
    }
}

// MARK: - Repeats

extension Pattern.ProgramWriter {
    private mutating func write(_ repetition: Pattern.Repetition, _ node: Pattern.Node) throws(PatternError) {
        if backtracks, let set = try number(ofSingle: node) { return try run(repetition, set) }
        // One round that may be empty and then must not: `x+` of such an x is written as `x x*`.
        let loopsBack = repetition.most == nil && repetition.least > 0 && !(backtracks && node.canBeEmpty)
        let start = here
        let copies = repetition.most ?? max(1, repetition.least + (loopsBack ? 0 : 1))
        for round in 0..<copies {
            if round == 1, Int(here - start) * copies > limits.statesPerRepeat { throw tooLarge }
            if round < repetition.least {
                let body = here
                try writeRound(repetition, node)
                if loopsBack, round == copies - 1 { try split(repetition, body, here + 1) }
            } else if repetition.most == nil {
                try writeStar(repetition, node)
            } else {
                return try writeOptional(repetition, node, rounds: copies - round, of: copies)
            }
        }
    }

    private mutating func writeStar(_ repetition: Pattern.Repetition, _ node: Pattern.Node) throws(PatternError) {
        let start = here
        try split(repetition, start + 1, 0)
        try writeRound(repetition, node, mustTake: true)
        try add(.jump, start)
        setWayOut(of: start, repetition)
    }

    /// Rounds that need not be: each may leave for the end.
    private mutating func writeOptional(
        _ repetition: Pattern.Repetition, _ node: Pattern.Node, rounds: Int, of copies: Int
    ) throws(PatternError) {
        var splits: [Int32] = []
        for round in 0..<rounds {
            let start = here
            splits.append(start)
            try split(repetition, start + 1, 0)
            try writeRound(repetition, node, mustTake: true)
            if round == 0, copies > 1, Int(here - start) * copies > limits.statesPerRepeat { throw tooLarge }
        }
        for split in splits { setWayOut(of: split, repetition) }
    }

    private mutating func writeRound(
        _ repetition: Pattern.Repetition, _ node: Pattern.Node, mustTake: Bool = false
    ) throws(PatternError) {
        if keepsGroups, let groups = repetition.groups {
            try add(.forget, Int32(2 * groups.lowerBound), Int32(2 * groups.upperBound + 2))
        }
        guard backtracks, mustTake, node.canBeEmpty else { return try write(node) }
        let slot = Int32(program.slotCount)
        program.slotCount += 1
        try add(.save, slot)
        try write(node)
        try add(.progress, slot)
    }

    /// A choice between another round and leaving, in the order of the repetition's greed.
    private mutating func split(
        _ repetition: Pattern.Repetition, _ round: Int32, _ out: Int32
    ) throws(PatternError) {
        try add(.split, repetition.isGreedy ? round : out, repetition.isGreedy ? out : round)
    }

    private mutating func setWayOut(of split: Int32, _ repetition: Pattern.Repetition) {
        if repetition.isGreedy {
            program.instructions[Int(split)].b = here
        } else {
            program.instructions[Int(split)].a = here
        }
    }

    private mutating func run(_ repetition: Pattern.Repetition, _ set: Int32) throws(PatternError) {
        let most = repetition.most.map { Int32(clamping: $0) } ?? Int32.max
        try add(
            Instruction(
                code: .run, isBackward: isBackward, flag: repetition.isGreedy, a: set,
                b: Int32(clamping: repetition.least), c: most))
    }
}

// MARK: - Classes

extension Pattern.ProgramWriter {
    private mutating func number(ofSingle node: Pattern.Node) throws(PatternError) -> Int32? {
        switch node {
        case .scalar(let scalar): try number(of: Pattern.ScalarSet([scalar...scalar]))
        case .set(let characters): try number(of: characters)
        default: nil
        }
    }

    private mutating func number(of characters: Pattern.CharacterClass) throws(PatternError) -> Int32 {
        if let known = classNumbers[characters] { return Int32(known) }
        let number = try number(of: characters.members)
        classNumbers[characters] = Int(number)
        return number
    }

    private mutating func number(of set: Pattern.ScalarSet) throws(PatternError) -> Int32 {
        if let known = setNumbers[set] { return Int32(known) }
        rangeCount += set.ranges.count
        guard rangeCount <= limits.ranges else {
            throw PatternError(message: "the pattern holds too many character classes", offset: 0)
        }
        setNumbers[set] = program.sets.count
        program.sets.append(set)
        return Int32(program.sets.count - 1)
    }
}
