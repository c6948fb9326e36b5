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
