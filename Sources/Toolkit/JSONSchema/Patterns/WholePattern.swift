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
