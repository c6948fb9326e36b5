import JSON
import Testing

@testable import JSONSchema

/// A schema whose verdict and reasons use the whole budget: each branch evaluates the next one twice.
private let branching: String = {
    let definitions = (0..<30).map {
        "\"d\($0)\":{\"anyOf\":[{\"$ref\":\"#/$defs/d\($0 + 1)\"},{\"$ref\":\"#/$defs/d\($0 + 1)\"}]}"
    }
    let last = "\"d30\":{\"type\":\"string\"}"
    return "{\"$ref\":\"#/$defs/d0\",\"$defs\":{\((definitions + [last]).joined(separator: ","))}}"
}()

@Suite("A budget of evaluations") struct EvaluationBudgetTests {
    private var small: EvaluationBudget {
        EvaluationBudget(steps: 1_000, bytes: 100, patternSteps: 1_000, reportSteps: 500)
    }

    @Test("is shared by all values")
    func shared() throws {
        let schema = try compiled(#"{"items":{"anyOf":[{"multipleOf":3},{"multipleOf":5},{"multipleOf":7}]}}"#)
        let value = try document("[1,2,3,4,5,6,7,8,9]").root
        var budget = small
        var scratch = Scratch()
        var verdicts: [Verdict] = []
        while verdicts.last != .exhausted(.steps), verdicts.count < 1_000 {
            verdicts.append(schema.verdict(on: value, within: &budget, scratch: &scratch))
        }
        #expect(verdicts.dropLast().allSatisfy { $0 == .invalid })
        #expect(verdicts.last == .exhausted(.steps))
        #expect(budget.steps == 0)
        #expect(budget.bytes == 0, "every byte pays once")
        #expect(schema.verdict(on: value, scratch: &scratch) == .invalid, "alone it has steps enough")
    }

    @Test("is never overdrawn by one value, and counts every step")
    func counted() throws {
        let schema = try compiled(#"{"type":"array","items":{"type":"integer"}}"#)
        var scratch = Scratch()
        var budget = small
        #expect(schema.verdict(on: try document("[1,2]").root, within: &budget, scratch: &scratch) == .valid)
        #expect(budget.bytes == 95)
        let taken = 1_000 + 10 * 5 - budget.steps
        #expect((1..<20).contains(taken))
    }

    @Test("bounds the reasons of many values, which beyond it contain only the verdict")
    func reasons() throws {
        let schema = try compiled(branching)
        let value = try document("5").root
        var budget = small
        let first = schema.reasons(on: value, within: &budget)
        #expect(first.isTruncated)
        #expect(budget.reportSteps == 0)
        let second = schema.reasons(on: value, within: &budget)
        #expect(second.violations.map(\.pointer) == ["#"])
        #expect(second.isTruncated)
        #expect(budget.reportSteps == 0)
    }
}
