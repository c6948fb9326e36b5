/// The remaining work of evaluations, shared by all values of a request, so that many values cost no more than one.
public struct EvaluationBudget: Sendable, Equatable {
    /// Evaluation steps granted per byte of a value's text.
    private static let stepsPerByte = 10
    /// Report steps granted per byte.
    private static let reportStepsPerByte = 2

    /// Remaining steps: loops and calls of evaluations.
    public var steps: Int
    /// Bytes of values that still grant steps, ten each.
    public var bytes: Int
    /// Remaining steps of backtracking patterns.
    public var patternSteps: Int
    /// Remaining steps of reports. Each takes about a microsecond, a hundred times as long as an evaluation step.
    public var reportSteps: Int

    /// Creates a budget.
    public init(steps: Int, bytes: Int, patternSteps: Int, reportSteps: Int) {
        self.steps = steps
        self.bytes = bytes
        self.patternSteps = patternSteps
        self.reportSteps = reportSteps
    }

    /// Converts the bytes of a value into steps.
    mutating func pay(for count: Int) {
        let paid = min(bytes, count)
        bytes -= paid
        steps += Self.stepsPerByte * paid
    }

    /// The steps of the report on one value, limited by its size so that steps remain for other values.
    func reportSteps(for bytes: Int, limits: SchemaLimits) -> Int {
        min(reportSteps, Self.reportSteps(for: bytes, limits: limits))
    }

    /// The steps of a report on a single value, outside a shared budget.
    static func reportSteps(for bytes: Int, limits: SchemaLimits) -> Int {
        reportStepsPerByte * bytes + limits.steps / 5
    }
}
