/// What a schema says of a value.
public enum Verdict: Sendable, Equatable {
    case valid
    case invalid
    /// Neither: the evaluation was stopped at a limit.
    case exhausted(Budget)

    /// What an evaluation may run out of.
    public enum Budget: UInt8, Sendable, CaseIterable {
        /// Steps: loops and calls of the evaluation.
        case steps
        /// Steps of backtracking patterns.
        case patternSteps
        /// Nested calls of the evaluation.
        case depth
        /// Members of one object.
        case members
        /// Scratch memory.
        case memory
        /// Bytes of the value's text.
        case bytes
    }
}
