extension Pattern {
    /// The chosen strategy. Trivial, so that matching retains nothing.
    enum Plan {
        case direct(DirectForm)
        case automaton(Automaton)
        case simulation(Simulation)
        case backtracking(Backtracker)
    }
}

extension Pattern.Plan {
    /// Chooses the cheapest strategy that can handle the pattern, or uses the requested one.
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

    /// Returns a table, or a simulation if the table would be too large. Nil when the pattern has too many repetitions
    /// to expand. The backtracker counts runs of one class instead, so it may still accept such a pattern.
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

        /// Stores a copy that lives as long as the pattern. `Element` is trivial and is never deinitialized.
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

/// The reason why a pattern cannot be used, and the position.
struct PatternError: Error, Equatable, CustomStringConvertible {
    /// One clause without a full stop, for the author of the schema.
    let message: String
    /// The byte offset in the pattern to which the message refers.
    let offset: Int

    var description: String { "\(message) (at byte \(offset))" }
}

/// The limits of one pattern. They apply when the pattern is compiled; steps belong to the document that is checked.
struct PatternLimits: Sendable {
    /// Nested groups. Code that walks over a tree recurses once or twice per level. At this depth, a debug build was
    /// measured to use 192 KiB of stack.
    var nesting = 100
    /// Instructions of one expanded repetition.
    var statesPerRepeat = 1_000
    /// Instructions of the whole pattern.
    var states = 10_000
    /// Ranges in all character classes of a pattern together (`\p{L}` has about 680).
    var ranges = 50_000
    /// Cells in the table of an automaton, two bytes each. A pattern that needs more is simulated.
    var automatonCells = 32_768
    /// Instructions visited while an automaton is built, at about 10 ns each. Prevents a hostile pattern from using the
    /// time of a whole schema.
    var automatonWork = 100_000

    static let standard = PatternLimits()
}
