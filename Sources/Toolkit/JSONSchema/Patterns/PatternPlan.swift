extension Pattern {
    /// Chooses the cheapest way that serves the pattern.
    static func plan(
        _ syntax: Syntax, limits: PatternLimits, engine: Engine?, memory: Memory
    ) throws(PatternError) -> Plan {
        var writer = ProgramWriter(syntax, limits: limits, backtracks: true)
        return .backtracking(Backtracker(machine: try Machine(try writer.write(), limits: limits, memory: memory)))
    }
}
