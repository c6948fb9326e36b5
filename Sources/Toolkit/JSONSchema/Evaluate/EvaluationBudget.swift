/// The remaining budget of evaluations. All values of a request share one budget, so that the cost of a request is
/// limited regardless of the number of values.
public struct EvaluationBudget: Sendable, Equatable {
    /// The number of evaluation steps that each byte of a value's text adds to the budget.
    private static let stepsPerByte = 10
    /// The number of additional steps that the report on a value may take for each byte of the value's text.
    private static let reportStepsPerByte = 2

    /// The remaining steps of evaluations, which are loops and calls.
    public var steps: Int
    /// The remaining number of bytes for which values add steps to the budget. Each byte of a value adds ten steps.
    public var bytes: Int
    /// The remaining steps of backtracking patterns.
    public var patternSteps: Int
    /// The remaining steps of reports. A step takes about a microsecond, which is a hundred times as long as an
    /// evaluation step.
    public var reportSteps: Int

    /// Creates a budget.
    public init(steps: Int, bytes: Int, patternSteps: Int, reportSteps: Int) {
        self.steps = steps
        self.bytes = bytes
        self.patternSteps = patternSteps
        self.reportSteps = reportSteps
    }

    /// Adds ten evaluation steps for each byte of a value of `count` bytes, but for at most `bytes` bytes. Subtracts
    /// the number of these bytes from `bytes`.
    mutating func pay(for count: Int) {
        let paid = min(bytes, count)
        bytes -= paid
        steps += Self.stepsPerByte * paid
    }

    /// Returns the maximum number of steps for the report on one value. The number depends on the size of the value, so
    /// that steps remain for the reports on other values.
    func reportSteps(for bytes: Int, limits: SchemaLimits) -> Int {
        min(reportSteps, Self.reportSteps(for: bytes, limits: limits))
    }

    /// Returns the maximum number of steps for the report on a single value, without a shared budget.
    static func reportSteps(for bytes: Int, limits: SchemaLimits) -> Int {
        reportStepsPerByte * bytes + limits.steps / 5
    }
}
