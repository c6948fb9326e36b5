extension Pattern {
    /// The chosen strategy with its tables. It contains no references, so that matching retains no objects.
    enum Plan {
        case direct(DirectForm)
        case automaton(Automaton)
        case simulation(Simulation)
        case backtracking(Backtracker)
    }
}

extension Pattern.Plan {
    /// Chooses the cheapest strategy that supports the pattern, or uses the requested strategy.
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
            throw PatternError(message: "the pattern cannot be compiled", offset: 0)
        }
    }

    /// Returns an automaton, or a simulation if the table would be too large. Returns nil when the pattern has too many
    /// repetitions to expand. The backtracker may still support such a pattern, because it counts runs of one class
    /// instead of expanding them.
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
    /// The owner of a pattern's tables. Matching uses plain pointers to the tables and retains no objects.
    final class PatternMemory {
        private var blocks: [UnsafeMutableRawPointer] = []
        private(set) var byteCount = 0

        /// Stores a copy of the elements that exists as long as the pattern, and returns its address.
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

/// The error for a pattern that cannot be used, with its position.
struct PatternError: Error, Equatable, CustomStringConvertible {
    /// A message for the author of the schema, without a full stop.
    let message: String
    /// The position of the error, as a byte offset in the pattern.
    let offset: Int

    var description: String { "\(message) (at byte \(offset))" }
}

/// The limits for compiling a pattern. The number of steps for matching is limited for each document instead.
struct PatternLimits: Sendable {
    /// The maximum nesting of groups. Functions on the syntax tree recurse once or twice for each level. At this depth,
    /// a debug build uses 192 KiB of stack (measured).
    var nesting = 100
    /// The maximum number of instructions of one expanded repetition.
    var statesPerRepeat = 1_000
    /// The maximum number of instructions of the whole pattern.
    var states = 10_000
    /// The maximum number of ranges in all character classes of a pattern together (`\p{L}` has about 680).
    var ranges = 50_000
    /// The maximum number of cells in the table of an automaton. A cell has two bytes. A pattern that needs more cells
    /// is simulated.
    var automatonCells = 32_768
    /// The maximum number of instructions that are visited while an automaton is built. Each visit takes about 10 ns.
    /// The limit prevents a hostile pattern from using all the time for compiling a schema.
    var automatonWork = 100_000

    static let standard = PatternLimits()
}
