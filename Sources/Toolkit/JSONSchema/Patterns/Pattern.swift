/// A compiled regular expression of ECMA-262 with the `u` flag, for UTF-8 texts.
///
/// JSON Schema only needs to know if a pattern matches anywhere in a text. A pattern can therefore use the cheapest of
/// four strategies, which is chosen when the pattern is compiled:
/// - *direct*: for literals, sets of words and runs of character classes, which nearly all schemas use;
/// - *automaton*: a table that is built at compilation, for patterns without lookaround and back references;
/// - *simulation*: for the same patterns if the table would be too large. The simulation also takes linear time but is
///   slower;
/// - *backtracking*: for all other patterns. It tries alternatives in the order of ECMA-262.
///
/// The first two strategies allocate no memory and need no budget, because the length of the text limits their time.
///
/// `@unchecked Sendable` is safe, because the raw memory of the tables is written only in `init` and freed in `deinit`.
final class Pattern: @unchecked Sendable {
    /// The matching strategies. Tests request a specific strategy.
    enum Matcher: Sendable, CaseIterable { case direct, automaton, simulation, backtracking }

    private let plan: Plan
    private let memory: PatternMemory

    /// Compiles a pattern. `engine` requests a strategy; the pattern is rejected if the strategy does not support it.
    /// With nil, the cheapest strategy is chosen.
    init(
        _ source: UnsafeBufferPointer<UInt8>, limits: PatternLimits = .standard, engine: Matcher? = nil
    ) throws(PatternError) {
        var parser = Parser(source, limits: limits)
        let syntax = try parser.parse()
        let memory = PatternMemory()
        plan = try Plan(syntax, limits: limits, engine: engine, memory: memory)
        self.memory = memory
    }

    /// The size of the tables in bytes, which counts against the limit of a schema.
    var byteCount: Int { memory.byteCount }

    /// The chosen strategy.
    var engine: Matcher {
        switch plan {
        case .direct: .direct
        case .automaton: .automaton
        case .simulation: .simulation
        case .backtracking: .backtracking
        }
    }

    /// Checks if the pattern matches anywhere in the text, which must be valid UTF-8.
    ///
    /// `steps` is the remaining budget of the document. Only simulation and backtracking use it. A step takes about ten
    /// to fifty nanoseconds. When the budget is exhausted, the result is `.exhausted`.
    func matches(_ text: UnsafeBufferPointer<UInt8>, steps: inout Int) -> PatternVerdict {
        let text = Text(text)
        switch plan {
        case .direct(let form): return form.matches(text) ? .match : .noMatch
        case .automaton(let automaton): return automaton.matches(text) ? .match : .noMatch
        case .simulation(let simulation): return simulation.matches(text, steps: &steps)
        case .backtracking(let backtracker): return backtracker.matches(text, steps: &steps)
        }
    }

    /// Returns true when a text is a valid pattern (format `regex`). The limits on repetitions are not checked.
    static func isSyntacticallyValid(_ source: UnsafeBufferPointer<UInt8>) -> Bool {
        var parser = Parser(source, limits: .standard)
        // The reason of an error is not needed.
        return (try? parser.parse()) != nil
    }
}

/// The result of matching.
enum PatternVerdict: Sendable, Equatable {
    case match, noMatch
    /// The step budget was exhausted before a result was found.
    case exhausted
}

/// A regular expression of ECMA-262 that must match a whole text. Matching takes at most a few milliseconds. If
/// matching would take longer, the text counts as not matching.
public struct WholePattern: Sendable {
    /// The step budget of a match, which takes at most a few milliseconds.
    private static let steps = 100_000

    private let pattern: Pattern

    /// Compiles a pattern. Returns nil if the pattern is invalid or exceeds the limits.
    public init?(_ text: String) {
        var (own, whole) = (text, "^(?:\(text))$")
        // The pattern is first checked alone, because an unbalanced parenthesis could close the group that is added
        // around it.
        guard own.withUTF8({ Pattern.isSyntacticallyValid($0) }),
            let pattern = whole.withUTF8({ try? Pattern($0) })
        else { return nil }
        self.pattern = pattern
    }

    /// Returns true if the pattern matches the whole text within the budget.
    public func matches(_ text: String) -> Bool {
        var (text, steps) = (text, Self.steps)
        return text.withUTF8 { pattern.matches($0, steps: &steps) } == .match
    }
}
