import ChatModel
import ChatSupport
import JSON
import JSONSchema
import Testing

@testable import ChatCore

/// A kilobyte that uses up every available step: a backtracking pattern for each member of a list.
private let dear = ##"{"items":{"pattern":"^(?:(a+)+)+\\1c$"}}"##
private let dearData = "[\"\(String(repeating: "a", count: 40))\"]"

@Suite("Work with schemas") struct SchemaWorkTests {
    private func withDearType(_ body: @Sendable (ChatAccess) async throws -> Void) async throws {
        try await withChat { chat in
            _ = try await chat.declare("re.x", settings())
            _ = try await chat.addVersion(proposal(dear), to: "re.x")
            try await chat.declareOrder()
            try await body(chat)
        }
    }

    private func validator(_ chat: ChatAccess, _ type: String) throws -> SchemaValidator {
        try #require(chat.service.eventTypes.validator(of: type, in: chat.app))
    }

    @Test("has one budget for all events of a request")
    func shared() async throws {
        try await withDearType { chat in
            let validator = try validator(chat, "re.x")
            var work = ValidationBudget()
            for _ in 0..<500 {
                do throws(ChatError) {
                    _ = try validator.admit(json(dearData), within: &work)
                    Issue.record("it is accepted")
                } catch {
                    #expect(error.faults.map(\.keyword) == ["limit"])
                }
            }
            #expect(work.budget.patternSteps == 0)
            var left = ValidationBudget()
            let results = try await chat.prepare(
                (0..<500).map { _ in .success(orderPaid(dearData, type: "re.x")) }, within: &left
            ).results
            #expect(results.count == 500)
            #expect(left.budget.patternSteps == 0)
            for result in results {
                let error = #expect(throws: ChatError.self) { try result.get() }
                #expect(error?.slug == "schema_violation")
                #expect(error?.faults.map(\.keyword) == ["limit"])
            }
        }
    }

    @Test("of an honest batch is enough for every event")
    func honest() async throws {
        try await withDearType { chat in
            var left = ValidationBudget()
            let results = try await chat.prepare(
                (0..<500).map { .success(orderPaid("{\"amount\":\($0)}")) }, within: &left
            ).results
            #expect(try results.allSatisfy { try $0.get().schema?.version == 1 })
            let refused = try await chat.prepare(
                (0..<500).map { .success(orderPaid("{\"amount\":\"\($0)\"}")) }, within: &left
            ).results
            for result in refused {
                let error = #expect(throws: ChatError.self) { try result.get() }
                #expect(error?.faults.map(\.pointer) == ["#/amount"])
            }
        }
    }

    @Test("on the loop accepts quickly and defers everything else")
    func quick() async throws {
        try await withDearType { chat in
            let order = try validator(chat, "order.paid")
            var work = ValidationBudget.onLoop
            #expect(try order.admit(json(#"{"amount":1}"#), within: &work)?.version == 1)
            #expect(!work.isPutOff)
            #expect(try order.admit(json(#"{"amount":"1"}"#), within: &work) == nil)
            #expect(work.isPutOff, "reasons are made elsewhere")
            var other = ValidationBudget.onLoop
            #expect(try validator(chat, "re.x").admit(json(dearData), within: &other) == nil)
            #expect(other.isPutOff)
            #expect(other.budget.patternSteps == 0, "no more than its own steps are taken")
            var third = ValidationBudget.onLoop
            let long = "{\"amount\":1,\"text\":\"\(String(repeating: "a", count: 65_536))\"}"
            #expect(try order.admit(json(long), within: &third) == nil)
            #expect(third.isPutOff, "parsing it is long work as well")
        }
    }

    @Test("that is deferred runs in the turns of the apps")
    func turns() async throws {
        try await withDearType { chat in
            let error = try await refusal { try await chat.emit(orderPaid(dearData, type: "re.x")) }
            #expect(error.slug == "schema_violation")
            #expect(error.message.contains("send fewer events in one request"))
            #expect(chat.service.eventTypes.validationQueue.waitingCount == 0)
            #expect(try await chat.emit(orderPaid(#"{"amount":1}"#)).event.draft.schema?.version == 1)
        }
    }

    @Test("of a candidate is bounded for all events of a request")
    func candidate() async throws {
        try await withDearType { chat in
            _ = try await chat.setCandidate(json(dear), for: "order.paid")
            _ = try await chat.declare("order.paid", settings(.off))
            let outcome = try await chat.emit((0..<100).map { _ in orderPaid(dearData) })
            #expect(outcome.events.count == 100)
            let report = try chat.candidateReport(of: "order.paid")
            #expect(report.undecided == 100)
            let candidate = try #require(chat.service.eventTypes.candidate(of: "order.paid", in: chat.app))
            var work = ValidationBudget.beside
            for _ in 0..<3 { candidate.inspect(outcome.events[0].event, depth: 64, within: &work) }
            #expect(work.budget.patternSteps == 0)
        }
    }
}
