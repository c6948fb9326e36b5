/// A regular expression of ECMA-262 with the `u` flag, over UTF-8.
///
/// Only the question of JSON Schema is answered: does the pattern match anywhere in the text? That leaves out most of what
/// an engine usually carries, and lets a pattern take the cheapest of four ways, chosen once:
/// - *direct*: literals, sets of words and runs of classes, which is what nearly all schemas hold;
/// - *automaton*: a table built in advance for whatever has neither lookaround nor back references;
/// - *simulation*: the same patterns where the table would grow too large; linear as well, but slower;
/// - *backtracking*: the rest, with the order of attempts that ECMA-262 prescribes.
///
/// The first two never allocate and need no budget: their time is bounded by the length of the text.
///
/// `@unchecked` because the tables are raw memory: it is written in `init`, freed in `deinit`, and only read between.
final class Pattern: @unchecked Sendable {
    /// The ways to match; tests ask for each.
    enum Matcher: Sendable, CaseIterable { case direct, automaton, simulation, backtracking }

    private let plan: Plan
    private let memory: PatternMemory

    /// Compiles a pattern; `engine` asks for one way and refuses the pattern if that one cannot serve it.
    init(
        _ source: UnsafeBufferPointer<UInt8>, limits: PatternLimits = .standard, engine: Matcher? = nil
    ) throws(PatternError) {
        var parser = Parser(source, limits: limits)
        let syntax = try parser.parse()
        let memory = PatternMemory()
        plan = try Plan(syntax, limits: limits, engine: engine, memory: memory)
        self.memory = memory
    }

    /// Bytes held by the tables, for whoever bounds a whole schema.
    var byteCount: Int { memory.byteCount }

    /// The way that was chosen.
    var engine: Matcher {
        switch plan {
        case .direct: .direct
        case .automaton: .automaton
        case .simulation: .simulation
        case .backtracking: .backtracking
        }
    }

    /// Whether the pattern matches anywhere in the text, which is valid UTF-8.
    ///
    /// `steps` is what the document may still spend. Only simulation and backtracking take from it; a step is some ten
    /// to fifty nanoseconds of work. When it runs out the answer is `.exhausted`, never a guess.
    func matches(_ text: UnsafeBufferPointer<UInt8>, steps: inout Int) -> PatternVerdict {
        let text = Text(text)
        switch plan {
        case .direct(let form): return form.matches(text) ? .match : .noMatch
        case .automaton(let automaton): return automaton.matches(text) ? .match : .noMatch
        case .simulation(let simulation): return simulation.matches(text, steps: &steps)
        case .backtracking(let backtracker): return backtracker.matches(text, steps: &steps)
        }
    }

    /// Whether a text is a pattern at all (the `regex` format); limits on repeats do not matter here.
    static func isSyntacticallyValid(_ source: UnsafeBufferPointer<UInt8>) -> Bool {
        var parser = Parser(source, limits: .standard)
        // Only the verdict is asked for: the format check has no place for the reason.
        return (try? parser.parse()) != nil
    }
}

/// The answer of a pattern.
enum PatternVerdict: Sendable, Equatable {
    case match, noMatch
    /// The budget of steps ran out before there was an answer.
    case exhausted
}

/// A regular expression of ECMA-262 that a whole text must match. It never takes longer than its budget: past that it does
/// not match.
public struct WholePattern: Sendable {
    /// Some milliseconds of work at most.
    private static let steps = 100_000

    private let pattern: Pattern

    /// Nil for a text that is none, or one that would cost too much.
    public init?(_ text: String) {
        var (own, whole) = (text, "^(?:\(text))$")
        // Looked at alone first: a bracket too many would close the one around it.
        guard own.withUTF8({ Pattern.isSyntacticallyValid($0) }),
            let pattern = whole.withUTF8({ try? Pattern($0) })
        else { return nil }
        self.pattern = pattern
    }

    public func matches(_ text: String) -> Bool {
        var (text, steps) = (text, Self.steps)
        return text.withUTF8 { pattern.matches($0, steps: &steps) } == .match
    }
}
