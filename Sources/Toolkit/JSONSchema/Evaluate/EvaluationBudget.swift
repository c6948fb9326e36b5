/// The work that evaluations may still do: shared by the values of one request, so that many of them cost no more than one.
public struct EvaluationBudget: Sendable, Equatable {
    /// Steps that a byte of a value's text pays for.
    private static let stepsPerByte = 10
    /// Steps of a report that a byte pays for.
    private static let reportStepsPerByte = 2

    /// Loops and calls of evaluations.
    public var steps: Int
    /// Bytes of values that still pay for steps, ten each.
    public var bytes: Int
    /// Steps of backtracking patterns.
    public var patternSteps: Int
    /// Steps of reports. Each takes about a microsecond, a hundred times as long as one of a verdict.
    public var reportSteps: Int

    public init(steps: Int, bytes: Int, patternSteps: Int, reportSteps: Int) {
        self.steps = steps
        self.bytes = bytes
        self.patternSteps = patternSteps
        self.reportSteps = reportSteps
    }

    /// Turns the bytes of a value into steps.
    mutating func pay(for count: Int) {
        let paid = min(bytes, count)
        bytes -= paid
        steps += Self.stepsPerByte * paid
    }

    /// Steps of the report on one value: no more than its size allows, so that others have some as well.
    func reportSteps(for bytes: Int, limits: SchemaLimits) -> Int {
        min(reportSteps, Self.reportSteps(for: bytes, limits: limits))
    }

    /// Steps of a report that stands alone.
    static func reportSteps(for bytes: Int, limits: SchemaLimits) -> Int {
        reportStepsPerByte * bytes + limits.steps / 5
    }
}
