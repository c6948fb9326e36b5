import JSON
import Testing

@testable import JSONSchema

/// Reports are made on the thread that answers requests. The tests count their cost in steps and in compared names.
@Suite("The cost of a report") struct ReportCostTests {
    /// The remaining budget after all violations have been collected.
    private func collect(
        _ schema: String, _ value: String, limit: Int = 50
    ) throws -> (ViolationCollector, ViolationCollector.Outcome) {
        let schema = try compiled(schema) { $0.limits.schemaNodes = 100_000 }
        var options = ReportOptions()
        options.limit = limit
        let value = try document(value)
        let limits = SchemaLimits()
        let steps = EvaluationBudget.reportSteps(for: value.text.count, limits: limits)
        var collector = ViolationCollector(schema.compiled, options, steps: steps, patternSteps: limits.patternSteps)
        let outcome = collector.apply(0, value.root, ViolationCollector.Place())
        return (collector, outcome)
    }

    private func object(_ count: Int, _ name: (Int) -> String) -> String {
        "{" + (0..<count).map { "\"\(name($0))\":1" }.joined(separator: ",") + "}"
    }

    private static let twelve = (0..<12).map { "\"member_\($0)\":{}" }.joined(separator: ",")

    @Test(
        "does not grow with the members a closed schema does not know",
        arguments: ["additionalProperties", "unevaluatedProperties"])
    func strangers(_ keyword: String) throws {
        let schema = "{\"properties\":{\(Self.twelve)},\"\(keyword)\":false}"
        let (full, outcome) = try collect(schema, object(1_000) { "membr_\($0)" })
        #expect(outcome.found.count == 51)
        #expect(outcome.found[0].violation.detail.contains("did you mean"))
        #expect(full.comparisons >= 2_000 - 12 / 2 - 51 * 12)
        let (one, first) = try collect(schema, object(1_000) { "membr_\($0)" }, limit: 1)
        #expect(first.found.count == 2)
        #expect(one.comparisons >= 2_000 - 12 / 2 - 2 * 12)
        #expect(one.steps > full.steps)
    }

    @Test(
        "counts the names that a schema goes through for each small object",
        arguments: [
            ("dependentRequired", "[]"), ("dependentSchemas", "{}"), ("dependencies", "[]"), ("properties", "{}"),
        ])
    func names(_ keyword: String, _ part: String) throws {
        let names = (0..<5_000).map { "\"z\($0)\":\(part)" }.joined(separator: ",")
        let objects = "[" + [String](repeating: "{}", count: 1_000).joined(separator: ",") + "]"
        let (collector, outcome) = try collect("{\"items\":{\"\(keyword)\":{\(names)}}}", objects)
        #expect(outcome.found.isEmpty)
        #expect(collector.isExhausted)
    }

    @Test("does not grow with the names that are missing")
    func missing() throws {
        let name = { (number: Int) in "a_rather_long_name_that_begins_like_all_the_others_\(number)" }
        let names = (0..<400).map { "\"\(name($0))\"" }.joined(separator: ",")
        let (collector, outcome) = try collect("{\"required\":[\(names)]}", object(800) { "x" + name($0) })
        #expect(outcome.found.count == 51)
        #expect(outcome.found[0].violation.detail.contains("did you mean"))
        #expect(outcome.found[50].violation.detail.contains("did you mean") == false)
        #expect(collector.comparisons >= 0)
        #expect(!collector.isExhausted)
        let (dependent, others) = try collect("{\"dependentRequired\":{\"a\":[\(names)]}}", #"{"a":1}"#)
        #expect(others.found.count == 51)
        #expect(dependent.steps > 0)
    }

    @Test(
        "ends at the limit in every loop over members or elements",
        arguments: [
            #"{"patternProperties":{"":{"type":"string"}}}"#, #"{"propertyNames":{"maxLength":1}}"#,
            #"{"additionalProperties":{"type":"string"}}"#, #"{"unevaluatedProperties":{"type":"string"}}"#,
        ])
    func loops(_ schema: String) throws {
        let (collector, outcome) = try collect(schema, object(1_000) { "name\($0)" }, limit: 3)
        #expect(outcome.found.count == 4)
        #expect(collector.steps > 0)
        let known = (0..<1_000).map { "\"name\($0)\":{\"type\":\"string\"}" }.joined(separator: ",")
        #expect(
            try collect("{\"properties\":{\(known)}}", object(1_000) { "name\($0)" }, limit: 3).1.found.count == 4)
        let array = "[" + [String](repeating: "1", count: 1_000).joined(separator: ",") + "]"
        let prefix = [String](repeating: "{\"type\":\"string\"}", count: 1_000).joined(separator: ",")
        #expect(try collect("{\"prefixItems\":[\(prefix)]}", array, limit: 3).1.found.count == 4)
        #expect(try collect(#"{"unevaluatedItems":{"type":"string"}}"#, array, limit: 3).1.found.count == 4)
    }

    @Test("is bounded where violations are not listed: in alternatives that fail")
    func alternatives() throws {
        let branches = (0..<40).map {
            "{\"properties\":{\(Self.twelve),\"n\":{\"const\":\($0)}},\"additionalProperties\":false}"
        }
        let schema = "{\"anyOf\":[\(branches.joined(separator: ","))]}"
        let (collector, outcome) = try collect(schema, object(20) { "membr_\($0)" })
        #expect(!outcome.isValid)
        #expect(collector.comparisons > -20)
    }

    @Test("counts the values of an enum")
    func values() throws {
        let values = (0..<8_000).map { "\"value\($0)\"" }.joined(separator: ",")
        let array = "[" + [String](repeating: "\"value7999\"", count: 1_000).joined(separator: ",") + "]"
        let (collector, _) = try collect("{\"items\":{\"enum\":[\(values)]}}", array)
        #expect(collector.isExhausted)
    }
}
