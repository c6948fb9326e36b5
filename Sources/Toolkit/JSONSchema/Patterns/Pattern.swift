/// A regular expression of ECMA-262 with the `u` flag, over UTF-8.
///
/// It answers only the question of JSON Schema: does the pattern match anywhere in the text? This excludes most
/// features of a regular expression engine, and permits a pattern to use the cheapest of four strategies, chosen once:
/// - *direct*: literals, sets of words and runs of classes, which nearly all schemas use;
/// - *automaton*: a table built in advance, for patterns without lookaround and back references;
/// - *simulation*: the same patterns when the table would become too large; also linear, but slower;
/// - *backtracking*: all others, in the order of attempts of ECMA-262.
///
/// The first two never allocate and need no budget, because the length of the text bounds their time.
///
/// `@unchecked` because the tables are raw memory, which is written in `init`, freed in `deinit`, and only read in
/// between.
final class Pattern: @unchecked Sendable {
    /// The strategies; tests request each of them.
    enum Matcher: Sendable, CaseIterable { case direct, automaton, simulation, backtracking }

    private let plan: Plan
    private let memory: PatternMemory

    /// Compiles a pattern. `engine` requests one strategy, and the pattern is rejected if that strategy cannot handle
    /// it.
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

    /// Returns whether the pattern matches anywhere in the text, which must be valid UTF-8.
    ///
    /// `steps` is the remaining budget of the document. Only simulation and backtracking use it; a step is about ten to
    /// fifty nanoseconds of work. When it is exhausted the result is `.exhausted`, never a guess.
    func matches(_ text: UnsafeBufferPointer<UInt8>, steps: inout Int) -> PatternVerdict {
        let text = Text(text)
        switch plan {
        case .direct(let form): return form.matches(text) ? .match : .noMatch
        case .automaton(let automaton): return automaton.matches(text) ? .match : .noMatch
        case .simulation(let simulation): return simulation.matches(text, steps: &steps)
        case .backtracking(let backtracker): return backtracker.matches(text, steps: &steps)
        }
    }

    /// True when a text is a valid pattern (the `regex` format). Limits on repetitions are ignored.
    static func isSyntacticallyValid(_ source: UnsafeBufferPointer<UInt8>) -> Bool {
        var parser = Parser(source, limits: .standard)
        // The format check has no use for the reason.
        return (try? parser.parse()) != nil
    }
}

/// The result of matching.
enum PatternVerdict: Sendable, Equatable {
    case match, noMatch
    /// The step budget was exhausted before a result was found.
    case exhausted
}

/// A regular expression of ECMA-262 that must match a whole text. Matching never exceeds its budget of a few
/// milliseconds; a text that would take longer does not match.
public struct WholePattern: Sendable {
    /// The step budget: at most several milliseconds.
    private static let steps = 100_000

    private let pattern: Pattern

    /// Returns nil for an invalid pattern, or one that exceeds the limits.
    public init?(_ text: String) {
        var (own, whole) = (text, "^(?:\(text))$")
        // Checked alone first, because an unbalanced bracket could close the enclosing group.
        guard own.withUTF8({ Pattern.isSyntacticallyValid($0) }),
            let pattern = whole.withUTF8({ try? Pattern($0) })
        else { return nil }
        self.pattern = pattern
    }

    /// Returns true when the pattern matches the whole text within the budget.
    public func matches(_ text: String) -> Bool {
        var (text, steps) = (text, Self.steps)
        return text.withUTF8 { pattern.matches($0, steps: &steps) } == .match
    }
}
