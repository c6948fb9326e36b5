import ChatModel
import JSONSchema

/// The work that one request may still have done to hold payloads against schemas, however many events it brings.
public struct ValidationBudget: Sendable {
    var budget: EvaluationBudget
    /// Whether it is done on the loop, where everybody waits for it: then only what is quickly accepted is judged, and
    /// anything else is put off.
    let isOnLoop: Bool
    /// Whether something has to be judged again, away from the loop.
    var isPutOff = false

    /// All that a request may have done: steps and patterns as for one value, ten steps more for each byte of a batch, and
    /// some 40 ms of reasons.
    public init() {
        let limits = SchemaLimits()
        budget = EvaluationBudget(
            steps: limits.steps, bytes: limits.payloadBytes, patternSteps: limits.patternSteps,
            reportSteps: limits.steps * 2 / 5)
        isOnLoop = false
    }

    /// The part that the loop does: a millisecond or two at most, enough for a small body under an ordinary schema.
    static let onLoop = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 0))

    /// The work for candidates, beside the request that brought an event: a few reasons as well.
    static let beside = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 1_000))

    private init(budget: EvaluationBudget) {
        self.budget = budget
        isOnLoop = true
    }

    /// Whether a payload that has to be parsed first is too much for the loop.
    func isTooLarge(_ bytes: Int) -> Bool { isOnLoop && bytes > budget.bytes }
}

extension EventTypes {
    /// Does work with schemas that may take long: away from the loop, one app's after another's.
    func judge<Result: Sendable>(
        for app: AppID, _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        try await judgements.run(for: app, work)
    }
}
