extension Pattern {
    /// Translates a syntax tree into a program.
    ///
    /// A program for the automaton or the simulation only determines which texts match. It therefore contains no
    /// captures and no check that a loop iteration consumes a character, because these do not change the result.
    ///
    /// The writer stores pending tasks in a list and does not recurse, so that it does not use the thread's stack.
    struct ProgramWriter {
        private typealias Label = Int32

        private enum Task {
            case node(Node)
            /// Write an instruction. `a` and `b` of `split`, `jump` and `lookaround` are labels, which are resolved at
            /// the end.
            case add(Instruction)
            case place(Label)
            /// Set the direction of the following nodes; true means backward.
            case turn(Bool)
            /// Check the size of a repetition with `copies` iterations. One iteration was just written: the
            /// instructions from the label to the current position.
            case check(Label, copies: Int)
        }

        private let syntax: Syntax
        private let limits: PatternLimits
        private let backtracks: Bool
        private let keepsGroups: Bool
        private var program = Program()
        private var classes: ClassList
        private var pending: [Task] = []
        private var places: [Int32] = []
        private var isBackward = false

        init(_ syntax: Syntax, limits: PatternLimits, backtracks: Bool) {
            self.syntax = syntax
            self.limits = limits
            self.backtracks = backtracks
            classes = ClassList(rangeLimit: limits.ranges)
            keepsGroups = backtracks && syntax.root.refersBack
            if keepsGroups { program.slotCount = 2 * (syntax.groupCount + 1) }
        }

        mutating func write() throws(PatternError) -> Program {
            pending = [.add(Instruction(code: .match)), .node(syntax.root)]
            while let task = pending.popLast() {
                switch task {
                case .node(let node): try write(node)
                case .add(let instruction): try add(instruction)
                case .place(let label): places[Int(label)] = here
                case .turn(let isBackward): self.isBackward = isBackward
                case .check(let start, let copies): try check(Int(here - places[Int(start)]), copies)
                }
            }
            resolveLabels()
            program.sets = classes.sets
            program.isAnchored = !program.isReachableWithoutTextStart()
            return program
        }
    }
}

extension Pattern.ProgramWriter {
    private typealias Instruction = Pattern.Instruction

    private var here: Int32 { Int32(program.instructions.count) }

    private mutating func add(_ instruction: Instruction) throws(PatternError) {
        guard program.instructions.count < limits.states else { throw Self.tooLarge }
        program.instructions.append(instruction)
    }

    private func check(_ size: Int, _ copies: Int) throws(PatternError) {
        if copies > 1, size * copies > limits.statesPerRepeat { throw Self.tooLarge }
    }

    private static let tooLarge = PatternError(
        message: "the pattern is too large because of its repetitions", offset: 0)

    private mutating func label() -> Label {
        places.append(0)
        return Label(places.count - 1)
    }

    private mutating func resolveLabels() {
        for index in program.instructions.indices {
            let instruction = program.instructions[index]
            switch instruction.code {
            case .split:
                program.instructions[index].a = places[Int(instruction.a)]
                program.instructions[index].b = places[Int(instruction.b)]
            case .jump, .lookaround: program.instructions[index].a = places[Int(instruction.a)]
            default: break
            }
        }
    }

    private mutating func schedule(_ tasks: [Task]) { pending += tasks.reversed() }

    // MARK: Nodes

    private mutating func write(_ node: Pattern.Node) throws(PatternError) {
        switch node {
        case .empty: break
        case .scalar(let scalar): try match(classes.number(of: scalar))
        case .set(let characters): try match(try classes.number(of: characters))
        case .sequence(let nodes): schedule((isBackward ? nodes.reversed() : nodes).map { .node($0) })
        case .choice(let nodes): write(choice: nodes)
        case .loop(let repetition, let node): try write(repetition, node)
        case .group(let number, let node): write(group: Int32(2 * number), node)
        case .backReference(let group): try write(reference: group)
        case .namedReference(let place): try write(reference: syntax.references[place])
        case .edge(let edge): try add(Instruction(code: edge.code))
        case .lookaround(let look, let node): write(look, node)
        }
    }

    private mutating func match(_ set: Int32) throws(PatternError) {
        try add(Instruction(code: .consume, isBackward: isBackward, a: set))
    }

    private mutating func write(choice nodes: [Pattern.Node]) {
        let end = label()
        var tasks: [Task] = []
        for (index, node) in nodes.enumerated() {
            guard index < nodes.count - 1 else {
                tasks += [.node(node), .place(end)]
                break
            }
            let (branch, next) = (label(), label())
            tasks += [.add(Instruction(code: .split, a: branch, b: next)), .place(branch), .node(node)]
            tasks += [.add(Instruction(code: .jump, a: end)), .place(next)]
        }
        schedule(tasks)
    }

    private mutating func write(group slot: Int32, _ node: Pattern.Node) {
        guard keepsGroups else { return schedule([.node(node)]) }
        schedule([
            .add(Instruction(code: .save, a: isBackward ? slot + 1 : slot)), .node(node),
            .add(Instruction(code: .save, a: isBackward ? slot : slot + 1)),
        ])
    }

    private mutating func write(reference group: Int) throws(PatternError) {
        try add(Instruction(code: .reference, isBackward: isBackward, a: Int32(2 * group)))
    }

    private mutating func write(_ look: Pattern.Lookaround, _ node: Pattern.Node) {
        let after = label()
        schedule([
            .add(Instruction(code: .lookaround, flag: look.isNegated, a: after)), .turn(look.isBehind), .node(node),
            .turn(isBackward), .add(Instruction(code: .lookaroundEnd)), .place(after),
        ])
    }
}

// MARK: - Repeats

extension Pattern.ProgramWriter {
    private mutating func write(_ repetition: Pattern.Repetition, _ node: Pattern.Node) throws(PatternError) {
        if backtracks, try run(repetition, node) { return }
        let savesGroups = keepsGroups && repetition.groups != nil
        if node.isVoid, !savesGroups { return }
        // Every node that is not empty needs at least one instruction, so the number of iterations is limited as well.
        let copies = repetition.most ?? repetition.least
        guard max(copies, repetition.least) <= limits.statesPerRepeat else { throw Self.tooLarge }
        var tasks: [Task] = []
        if let most = repetition.most {
            for _ in 0..<repetition.least { tasks += required(repetition, node, copies).tasks }
            tasks += optional(repetition, node, rounds: most - repetition.least, copies)
        } else if repetition.least > 0, !(backtracks && node.canBeEmpty) {
            for _ in 1..<repetition.least { tasks += required(repetition, node, copies).tasks }
            let last = required(repetition, node, copies)
            let out = label()
            tasks += last.tasks + [split(repetition, last.start, out), .place(out)]
        } else {
            // A required iteration may be empty, but an optional one must consume a character. Therefore `x+` is
            // written as `x x*`.
            for _ in 0..<repetition.least { tasks += required(repetition, node, copies).tasks }
            tasks += star(repetition, node)
        }
        schedule(tasks)
    }

    private mutating func required(
        _ repetition: Pattern.Repetition, _ node: Pattern.Node, _ copies: Int
    ) -> (tasks: [Task], start: Label) {
        let start = label()
        return ([.place(start)] + round(repetition, node) + [.check(start, copies: copies)], start)
    }

    private mutating func star(_ repetition: Pattern.Repetition, _ node: Pattern.Node) -> [Task] {
        let (start, inside, out) = (label(), label(), label())
        return [.place(start), split(repetition, inside, out), .place(inside)]
            + round(repetition, node, mustTake: true) + [.add(Instruction(code: .jump, a: start)), .place(out)]
    }

    /// Returns the tasks that write `rounds` optional iterations. A match can leave the repetition before each of these
    /// iterations.
    private mutating func optional(
        _ repetition: Pattern.Repetition, _ node: Pattern.Node, rounds: Int, _ copies: Int
    ) -> [Task] {
        let out = label()
        var tasks: [Task] = []
        for _ in 0..<rounds {
            let inside = label()
            tasks += [split(repetition, inside, out), .place(inside)]
            tasks += round(repetition, node, mustTake: true) + [.check(inside, copies: copies)]
        }
        return tasks + [.place(out)]
    }

    private mutating func round(
        _ repetition: Pattern.Repetition, _ node: Pattern.Node, mustTake: Bool = false
    ) -> [Task] {
        var tasks: [Task] = []
        if keepsGroups, let groups = repetition.groups {
            let slots = (first: Int32(2 * groups.lowerBound), end: Int32(2 * groups.upperBound + 2))
            tasks.append(.add(Instruction(code: .forget, a: slots.first, b: slots.end)))
        }
        guard backtracks, mustTake, node.canBeEmpty else { return tasks + [.node(node)] }
        let slot = Int32(program.slotCount)
        program.slotCount += 1
        return tasks + [
            .add(Instruction(code: .save, a: slot)), .node(node), .add(Instruction(code: .progress, a: slot)),
        ]
    }

    /// Returns a choice between another iteration and leaving the loop. A greedy repetition tries the iteration first.
    private func split(_ repetition: Pattern.Repetition, _ round: Label, _ out: Label) -> Task {
        let isGreedy = repetition.isGreedy
        return .add(Instruction(code: .split, a: isGreedy ? round : out, b: isGreedy ? out : round))
    }

    /// Writes the repetition of a single class as one instruction, for the backtracker. Returns false if the node is
    /// not a class.
    private mutating func run(_ repetition: Pattern.Repetition, _ node: Pattern.Node) throws(PatternError) -> Bool {
        let set: Int32
        switch node {
        case .scalar(let scalar): set = classes.number(of: scalar)
        case .set(let characters): set = try classes.number(of: characters)
        default: return false
        }
        try add(
            Instruction(
                code: .run, isBackward: isBackward, flag: repetition.isGreedy, a: set,
                b: Int32(clamping: repetition.least), c: repetition.most.map { Int32(clamping: $0) } ?? Int32.max))
        return true
    }
}

extension Pattern.Edge {
    fileprivate var code: Pattern.Instruction.Code {
        switch self {
        case .textStart: .textStart
        case .textEnd: .textEnd
        case .wordBoundary: .wordBoundary
        case .noWordBoundary: .noWordBoundary
        }
    }
}

extension Pattern {
    /// The distinct character classes of a pattern. The characters of each class are determined only once.
    struct ClassList {
        private(set) var sets: [ScalarSet] = []
        private var numbers: [ScalarSet: Int32] = [:]
        private var known: [CharacterClass: Int32] = [:]
        private var rangeCount = 0
        private let rangeLimit: Int

        init(rangeLimit: Int) { self.rangeLimit = rangeLimit }

        mutating func number(of scalar: UInt32) -> Int32 { number(of: ScalarSet([scalar...scalar])) }

        mutating func number(of characters: CharacterClass) throws(PatternError) -> Int32 {
            if let known = known[characters] { return known }
            let members = characters.members
            rangeCount += members.ranges.count
            guard rangeCount <= rangeLimit else {
                throw PatternError(message: "the pattern has too many character classes", offset: 0)
            }
            let number = number(of: members)
            known[characters] = number
            return number
        }

        private mutating func number(of set: ScalarSet) -> Int32 {
            if let known = numbers[set] { return known }
            numbers[set] = Int32(sets.count)
            sets.append(set)
            return Int32(sets.count - 1)
        }
    }
}
