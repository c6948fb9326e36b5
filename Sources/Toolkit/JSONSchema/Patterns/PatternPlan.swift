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

extension Pattern {
    /// Owns the tables of a pattern, so that matching reads plain pointers and retains nothing.
    final class PatternMemory {
        private var blocks: [UnsafeMutableRawPointer] = []
        private(set) var byteCount = 0

        /// A copy that lives as long as the pattern. `Element` is trivial: it is never deinitialised.
        func keep<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
            let size = max(1, elements.count) * MemoryLayout<Element>.stride
            let block = UnsafeMutableRawPointer.allocate(
                byteCount: size, alignment: MemoryLayout<Element>.alignment)
            blocks.append(block)
            byteCount += size
            let typed = block.bindMemory(to: Element.self, capacity: max(1, elements.count))
            elements.withUnsafeBufferPointer { source in
                if let base = source.baseAddress { typed.initialize(from: base, count: source.count) }
            }
            return UnsafePointer(typed)
        }

        deinit {
            for block in blocks { block.deallocate() }
        }
    }
}

/// Why a pattern cannot be used, and where in it.
struct PatternError: Error, Equatable, CustomStringConvertible {
    /// One clause without a final stop, for the author of the schema.
    let message: String
    /// Bytes of the pattern before the place the message speaks of.
    let offset: Int

    var description: String { "\(message) (at byte \(offset))" }
}

/// What one pattern may cost. Everything here is decided when the pattern is compiled, but for the steps, which belong
/// to the document that is checked.
struct PatternLimits: Sendable {
    /// Groups within groups. What walks over a tree calls itself once or twice per level: at this depth a debug build
    /// was seen to use 192 KiB of stack.
    var nesting = 100
    /// Instructions that a counted repeat may unfold to.
    var statesPerRepeat = 1_000
    /// Instructions of the whole pattern.
    var states = 10_000
    /// Ranges in all character classes of a pattern together (`\p{L}` has about 680).
    var ranges = 50_000
    /// Places in the table of an automaton, two bytes each; a pattern that needs more is simulated.
    var automatonCells = 32_768
    /// Instructions visited while an automaton is built, at about 10 ns: what keeps a hostile pattern from taking the
    /// time of a whole schema.
    var automatonWork = 100_000

    static let standard = PatternLimits()
}
