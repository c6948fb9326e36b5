extension Pattern {
    /// The way that was chosen. Trivial, so that matching retains nothing.
    enum Plan {
        case direct(DirectForm)
        case automaton(Automaton)
        case simulation(Simulation)
        case backtracking(Backtracker)
    }
}

extension Pattern.Plan {
    /// Chooses the cheapest way that serves the pattern, or takes the one that is asked for.
    init(
        _ syntax: Pattern.Syntax, limits: PatternLimits, engine: Pattern.Matcher?, memory: Pattern.PatternMemory
    ) throws(PatternError) {
        if engine == nil || engine == .direct,
            let form = try Pattern.DirectForm(syntax.root, limits: limits, memory: memory)
        {
            self = .direct(form)
        } else if engine != .backtracking, engine != .direct, !syntax.root.needsBacktracking,
            let plan = try Self.linear(syntax, limits, engine, memory)
        {
            self = plan
        } else if engine == nil || engine == .backtracking {
            let program = try Self.program(syntax, limits, backtracks: true)
            let partition = try Pattern.Partition(program.distinctions, limits: limits)
            let alphabet = Pattern.Alphabet(partition, memory: memory)
            self = .backtracking(
                Pattern.Backtracker(machine: try Pattern.Machine(program, partition, alphabet, memory: memory)))
        } else {
            throw PatternError(message: "this engine does not serve the pattern", offset: 0)
        }
    }

    /// A table, or a simulation if the table would be too large. nil if the repeats of the pattern are too many to be
    /// written out: the backtracker counts runs of one class instead, so it may still take them.
    private static func linear(
        _ syntax: Pattern.Syntax, _ limits: PatternLimits, _ engine: Pattern.Matcher?, _ memory: Pattern.PatternMemory
    ) throws(PatternError) -> Pattern.Plan? {
        guard let program = try? program(syntax, limits, backtracks: false) else { return nil }
        let partition = try Pattern.Partition(program.distinctions, limits: limits)
        let alphabet = Pattern.Alphabet(partition, memory: memory)
        if engine != .simulation {
            let compileQueue = Pattern.PatternMemory()
            let machine = try Pattern.Machine(program, partition, alphabet, memory: compileQueue)
            let table = withExtendedLifetime(compileQueue) { Pattern.SubsetConstruction.table(machine, limits: limits) }
            if let table { return .automaton(Pattern.Automaton(table, alphabet, memory: memory)) }
            if engine == .automaton { return nil }
        }
        return .simulation(
            Pattern.Simulation(machine: try Pattern.Machine(program, partition, alphabet, memory: memory)))
    }

    private static func program(
        _ syntax: Pattern.Syntax, _ limits: PatternLimits, backtracks: Bool
    ) throws(PatternError) -> Pattern.Program {
        var writer = Pattern.ProgramWriter(syntax, limits: limits, backtracks: backtracks)
        return try writer.write()
    }
}
