import ChatModel
import JSON
import JSONSchema
import Testing

@testable import ChatCore

@Suite("A version of a schema") struct SchemaVersionTests {
    @Test("keeps its text byte for byte, with its examples")
    func bytes() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.paid", settings())
            let spelled = #"{ "type" : "object", "properties":{"amount":{"multipleOf":1.50}}, "title":"é" }"#
            var proposed = proposal(spelled)
            proposed.examples = [json(#"{"amount": 3.0}"#)]
            proposed.counterExamples = [json("7"), json(#"{"amount":1}"#)]
            let added = try await chat.addVersion(proposed, to: "order.paid")
            #expect(added.isNew)
            let version = try await chat.version(1, of: "order.paid")
            #expect(version.schema == json(spelled))
            #expect(version.examples == proposed.examples)
            #expect(version.counterExamples == proposed.counterExamples)
            #expect(version.compatibility == CompatibilityRule(.backward))
            #expect(version.forced == nil)
        }
    }

    @Test("gets the next number, and is no new one when nothing has changed")
    func numbers() async throws {
        try await withChat { chat in
            try await chat.declareOrder(rule: "none")
            let same = try await chat.addVersion(proposal(orderSchema), to: "order.paid")
            #expect(same.version.number == 1)
            #expect(!same.isNew)
            for number in 2...12 {
                let added = try await chat.addVersion(proposal(#"{"maxProperties":\#(number)}"#), to: "order.paid")
                #expect(added.version.number == number)
            }
            #expect(try chat.eventType("order.paid").latestVersion == 12)
            let first = try await chat.versions(of: "order.paid", RecordList(limit: 7))
            let second = try await chat.versions(of: "order.paid", RecordList(limit: 7, cursor: first.cursor))
            #expect((first.items + second.items).map(\.number) == Array(1...12))
            try await expect(.notFound) { _ = try await chat.version(13, of: "order.paid") }
            try await expect(.notFound) { _ = try await chat.version(0, of: "order.paid") }
        }
    }

    @Test("never shares its number, however many are declared at once")
    func races() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.paid", settings(rule: "none"))
            let numbers = try await withThrowingTaskGroup { group in
                for index in 1...20 {
                    group.addTask {
                        try await chat.addVersion(proposal(#"{"maxProperties":\#(index)}"#), to: "order.paid").version
                    }
                }
                return try await group.reduce(into: [Int: JSONText]()) { $0[$1.number] = $1.schema }
            }
            #expect(numbers.keys.sorted() == Array(1...20))
            for (number, schema) in numbers {
                #expect(try await chat.version(number, of: "order.paid").schema == schema)
            }
        }
    }

    @Test("needs a declared type")
    func undeclared() async throws {
        try await withChat { chat in
            let error = try await refusal { _ = try await chat.addVersion(proposal("{}"), to: "order.paid") }
            #expect(error.code == .notFound)
        }
    }

    @Test("must be a schema")
    func invalid() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.paid", settings())
            let error = try await refusal {
                _ = try await chat.addVersion(
                    proposal(#"{"properties":{"amount":{"type":"integral"}}}"#), to: "order.paid")
            }
            #expect(error.code == .invalid)
            #expect(error.slug == "schema_invalid")
            #expect(error.faults.contains { $0.place.hasPrefix("#/properties/amount") })
            let lost = try await refusal {
                _ = try await chat.addVersion(proposal(##"{"$ref":"#/$defs/none"}"##), to: "order.paid")
            }
            #expect(lost.slug == "schema_invalid")
            #expect(try chat.eventType("order.paid").latestVersion == 0)
        }
    }

    @Test("must give its examples the stated verdicts")
    func examples() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.paid", settings())
            var wrong = proposal(orderSchema)
            wrong.examples = [json(#"{"amount":1}"#), json(#"{"amount":"1"}"#)]
            var error = try await refusal { _ = try await chat.addVersion(wrong, to: "order.paid") }
            #expect(error.code == .invalid)
            #expect(error.slug == "example_invalid")
            #expect(error.faults.map(\.pointer) == ["#/examples/1/amount"])
            #expect(error.faults.map(\.keyword) == ["type"])
            wrong.examples = []
            wrong.counterExamples = [json("{}"), json(#"{"amount":1}"#)]
            error = try await refusal { _ = try await chat.addVersion(wrong, to: "order.paid") }
            #expect(error.slug == "example_invalid")
            #expect(error.faults.map(\.pointer) == ["#/counter_examples/1"])
            wrong.counterExamples = []
            wrong.examples = [json(#"{"amount":9223372036854775808}"#)]
            error = try await refusal { _ = try await chat.addVersion(wrong, to: "order.paid") }
            #expect(error.faults.map(\.pointer) == ["#/examples/0"])
        }
    }

    @Test("that breaks its rule is refused with the place and a witness")
    func incompatible() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            let narrower =
                #"{"type":"object","required":["amount"],"properties":{"amount":{"type":"integer","minimum":1}}}"#
            let error = try await refusal { _ = try await chat.addVersion(proposal(narrower), to: "order.paid") }
            #expect(error.code == .conflict)
            #expect(error.slug == "incompatible_schema")
            #expect(error.faults.map(\.pointer) == ["#/properties/amount/minimum"])
            #expect(error.faults.map(\.keyword) == ["backward"])
            let members = Dictionary(uniqueKeysWithValues: error.members)
            #expect(members["compared_with"] == json("1"))
            let witness = try #require(members["witness"])
            #expect(try await chat.validate(witness, as: "order.paid").isValid)
            #expect(try chat.eventType("order.paid").latestVersion == 1)
            _ = try await chat.addVersion(proposal(narrower, rule: "forward"), to: "order.paid")
            #expect(try chat.eventType("order.paid").settings.compatibility.mode == .forward)
        }
    }

    @Test("is accepted by force with a reason, which is stored")
    func forced() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            let reason = "nobody emits it yet"
            let added = try await chat.addVersion(proposal(#"{"type":"string"}"#, forced: reason), to: "order.paid")
            #expect(added.version.number == 2)
            #expect(try await chat.version(2, of: "order.paid").forced == reason)
            let kept = try await chat.addVersion(
                proposal(#"{"type":["string","null"]}"#, forced: "not needed"), to: "order.paid")
            #expect(try await chat.version(kept.version.number, of: "order.paid").forced == nil)
            let empty = try await refusal {
                _ = try await chat.addVersion(proposal("{}", forced: ""), to: "order.paid")
            }
            #expect(empty.code == .malformed)
        }
    }

    @Test("is held against all earlier ones when the rule is transitive")
    func transitive() async throws {
        try await withChat { chat in
            _ = try await chat.declare("t", settings(rule: "none"))
            _ = try await chat.addVersion(proposal(#"{"type":["string","integer"]}"#), to: "t")
            _ = try await chat.addVersion(proposal(#"{"type":"string"}"#), to: "t")
            let next = #"{"type":["string","null"]}"#
            let error = try await refusal {
                _ = try await chat.addVersion(proposal(next, rule: "backward_transitive"), to: "t")
            }
            #expect(Dictionary(uniqueKeysWithValues: error.members)["compared_with"] == json("1"))
            _ = try await chat.addVersion(proposal(next, rule: "backward"), to: "t")
        }
    }

    @Test("is compared with earlier ones for a bounded time, with the newest in any case")
    func comparisonTime() async throws {
        var limits = Limits()
        limits.schemaComparison = .zero
        try await withChat(limits: limits) { chat in
            _ = try await chat.declare("t", settings(rule: "none"))
            for number in 1...3 { _ = try await chat.addVersion(proposal(#"{"maximum":\#(number)}"#), to: "t") }
            let next = #"{"maximum":4}"#
            let error = try await refusal {
                _ = try await chat.addVersion(proposal(next, rule: "backward_transitive"), to: "t")
            }
            #expect(error.code == .conflict)
            #expect(error.slug == "incompatible_schema")
            #expect(error.message.contains("version 2 and earlier versions within 0 seconds"))
            #expect(Dictionary(uniqueKeysWithValues: error.members)["compared_with"] == json("2"))
            let narrower = try await refusal {
                _ = try await chat.addVersion(proposal("false", rule: "backward_transitive"), to: "t")
            }
            #expect(Dictionary(uniqueKeysWithValues: narrower.members)["compared_with"] == json("3"))
            let forced = proposal(next, rule: "backward_transitive", forced: "all are known to be wider")
            #expect(try await chat.addVersion(forced, to: "t").version.forced != nil)
            _ = try await chat.addVersion(proposal(#"{"maximum":5}"#, rule: "backward"), to: "t")
        }
    }

    @Test("has a bounded size, a bounded number of examples, and bounded siblings")
    func limits() async throws {
        var limits = Limits()
        #expect(limits.schemaBytes == 256 * 1024)
        limits.schemaBytes = 1024
        limits.versionsPerType = 2
        limits.schemaExamples = 1
        try await withChat(limits: limits) { chat in
            _ = try await chat.declare("t", settings(rule: "none"))
            let long = #"{"description":"\#(String(repeating: "x", count: 1024))"}"#
            try await expect(.tooLarge) { _ = try await chat.addVersion(proposal(long), to: "t") }
            var many = proposal("{}")
            many.examples = [json("1"), json("2")]
            try await expect(.malformed) { _ = try await chat.addVersion(many, to: "t") }
            _ = try await chat.addVersion(proposal("{}"), to: "t")
            _ = try await chat.addVersion(proposal(#"{"maximum":1}"#), to: "t")
            let third = try await refusal { _ = try await chat.addVersion(proposal("true"), to: "t") }
            #expect(third.slug == "too_many_versions")
        }
    }

    @Test("has room in memory beside those of the app's other types, or is refused")
    func memory() async throws {
        var limits = Limits()
        limits.schemaMemoryBytes = 3 * 1024 * 1024
        try await withChat(limits: limits) { chat in
            // Each schema takes about 1.6 MB, measured by its text.
            let large = #"{"description":"\#(String(repeating: "x", count: 50_000))"}"#
            _ = try await chat.declare("a", settings(rule: "none"))
            _ = try await chat.declare("b", settings(rule: "none"))
            _ = try await chat.addVersion(proposal(large), to: "a")
            // A new version replaces the previous one.
            _ = try await chat.addVersion(proposal(large + " "), to: "a")
            let second = try await refusal { _ = try await chat.addVersion(proposal(large), to: "b") }
            #expect(second.slug == "schema_memory_full")
            let trial = try await refusal { _ = try await chat.setCandidate(json(large), for: "b") }
            #expect(trial.slug == "schema_memory_full")
            _ = try await chat.addVersion(proposal(orderSchema), to: "b")
        }
    }
}
