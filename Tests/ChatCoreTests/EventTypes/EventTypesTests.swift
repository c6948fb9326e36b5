import ChatModel
import ChatSupport
import Foundation
import JSON
import Locking
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

@Suite("The event types of a gateway") struct EventTypesTests {
    @Test("are available after a restart, compiled before the first request")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let path = folder.database
        try await withChat(path: path) { chat in
            try await chat.declareOrder()
            _ = try await chat.declare("order.off", settings(.off))
            _ = try await chat.setCandidate(json(#"{"required":["currency"]}"#), for: "order.paid")
            try await chat.requireDeclaredTypes(true)
        }
        try await withChat(path: path) { chat in
            #expect(try chat.eventType("order.paid").latestVersion == 1)
            #expect(try chat.eventType("order.off").settings.mode == .off)
            let error = try await refusal { try await chat.emit(orderPaid(#"{"amount":"1"}"#)) }
            #expect(error.slug == "schema_violation")
            try await chat.emit(orderPaid(#"{"amount":1}"#))
            #expect(try chat.candidateReport(of: "order.paid").refused == 1)
            let undeclared = try await refusal { try await chat.emit(orderPaid("1", type: "order.other")) }
            #expect(undeclared.slug == "undeclared_type")
        }
    }

    @Test("are followed from another node: declared, changed, removed")
    func otherNode() async throws {
        try await withTwoNodes { here, there in
            try await here.declareOrder()
            await there.until { try $0.eventType("order.paid").latestVersion == 1 }
            await there.until { await $0.isRefused(#"{"amount":"1"}"#) }
            _ = try await here.addVersion(proposal(#"{"type":"object"}"#), to: "order.paid")
            await there.until { await !$0.isRefused(#"{"amount":"1"}"#) }
            _ = try await here.addVersion(proposal("false", forced: "closed for good"), to: "order.paid")
            await there.until { await $0.isRefused("{}") }
            _ = try await here.declare("order.paid", settings(.off))
            await there.until { await !$0.isRefused("{}") }
            _ = try await here.setCandidate(json("false"), for: "order.paid")
            await there.until { (try? $0.candidateReport(of: "order.paid")) != nil }
            try await here.dropCandidate(of: "order.paid")
            await there.until { (try? $0.candidateReport(of: "order.paid")) == nil }
            try await here.removeEventType("order.paid", ifMatch: here.eventType("order.paid").etag)
            await there.until { (try? $0.eventType("order.paid")) == nil }
        }
    }

    @Test("take effect on a node whose compile queue is busy", .timeLimit(.minutes(2)))
    func busy() async throws {
        try await withTwoNodes { here, there in
            let door = Latch()
            async let held: Void = there.service.eventTypes.compileQueue.run(for: there.app) {
                () async throws(ChatError) in await door.pass()
            }
            await door.arrivals.wait { $0 == 1 }
            try await here.declareOrder()
            await there.until { await $0.isRefused(#"{"amount":"1"}"#) }
            _ = try await here.setCandidate(json("false"), for: "order.paid")
            await there.until { (try? $0.candidateReport(of: "order.paid")) != nil }
            door.open()
            try await held
        }
    }

    @Test("number their versions without gaps although two nodes declare at once")
    func twoNodes() async throws {
        try await withTwoNodes { here, there in
            _ = try await here.declare("t", settings(rule: "none"))
            await there.until { (try? $0.eventType("t")) != nil }
            let numbers = try await withThrowingTaskGroup { group in
                for index in 1...20 {
                    let chat = index.isMultiple(of: 2) ? here : there
                    group.addTask {
                        // Other writers may have won eight times. The error asks the client to retry, so the test does.
                        while true {
                            do throws(ChatError) {
                                return try await chat.addVersion(proposal(#"{"maxProperties":\#(index)}"#), to: "t")
                                    .version.number
                            } catch {
                                guard error.retryAfter != nil else { throw error }
                            }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(numbers.sorted() == Array(1...20))
            #expect(try await here.versions(of: "t", RecordList(limit: 100)).items.map(\.number) == Array(1...20))
        }
    }

    @Test("are forgotten with their app")
    func app() async throws {
        try await withChat { chat in
            let operators = chat.service.chat(
                for: Caller(app: AppID("demo"), credential: "key_o", scopes: [.admin], isOperator: true))
            let other = chat.with(.admin, in: "other")
            _ = try await other.declare("t", settings())
            try await chat.service.keyring.removeApp("other", by: operators.caller)
            await other.until { (try? $0.eventType("t")) == nil }
        }
    }
}

@Suite("A candidate") struct CandidateTests {
    @Test("counts its verdicts on stored events, and has no effect")
    func counts() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.paid", settings())
            let set = try await chat.setCandidate(json(orderSchema), for: "order.paid").report
            #expect(set.accepted == 0)
            for data in [#"{"amount":1}"#, #"{"amount":"1"}"#, #"{"amount":null}"#, "{}"] {
                try await chat.emit(orderPaid(data))
            }
            try await chat.emit(orderPaid("{}", type: "order.other"))
            let report = try chat.candidateReport(of: "order.paid")
            #expect(report.accepted == 1)
            #expect(report.refused == 3)
            #expect(report.samples.map(\.fault.keyword) == ["type", "required"])
            #expect(report.samples.map(\.count) == [2, 1])
            let first = try #require(try await chat.kept(on: "orders.eu").dropFirst().first)
            #expect(report.samples.first?.event == first.id)
            #expect(try await chat.kept(on: "orders.eu").allSatisfy { $0.draft.schema == nil })
        }
    }

    @Test("becomes the newest version, under the type's rule")
    func promoted() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            _ = try await chat.setCandidate(json("false"), for: "order.paid")
            let error = try await refusal { _ = try await chat.promoteCandidate(of: "order.paid") }
            #expect(error.slug == "incompatible_schema")
            #expect(try chat.candidateReport(of: "order.paid").schema == json("false"))
            _ = try await chat.promoteCandidate(of: "order.paid", forced: "it is over")
            #expect(try await chat.version(2, of: "order.paid").schema == json("false"))
            try await expect(.notFound) { _ = try chat.candidateReport(of: "order.paid") }
        }
    }

    @Test("is gone after its promotion, even before its node receives the change")
    func staysGone() async throws {
        try await withChat { chat in
            _ = try await chat.declare("t", settings(rule: "none"))
            for n in 1...100 {
                _ = try await chat.setCandidate(json(#"{"maximum":\#(n)}"#), for: "t")
                _ = try await chat.promoteCandidate(of: "t")
                for _ in 0..<20 {
                    #expect(chat.service.eventTypes.candidate(of: "t", in: chat.app) == nil, "round \(n)")
                    await Task.yield()
                }
            }
        }
    }

    @Test("becomes a version and ends in one commit, unless it has ended or another one has its place")
    func promotedOnce() async throws {
        try await withChat { chat in
            let types = chat.service.eventTypes
            _ = try await chat.declare("t", settings(rule: "none"))
            _ = try await chat.setCandidate(json(#"{"maximum":1}"#), for: "t")
            let first = try #require(types.candidate(of: "t", in: chat.app))
            let revision = try await types.directory.revision()
            #expect(try await chat.promoteCandidate(of: "t").isNew)
            #expect(try await types.directory.revision() == revision + 1)
            try await expect(.notFound) { _ = try chat.candidateReport(of: "t") }
            // The node of the call has not yet learned that the candidate has ended.
            #expect(try await !chat.add(proposal(#"{"maximum":1}"#), to: "t", ending: first).isNew)
            _ = try await chat.setCandidate(json(#"{"maximum":3}"#), for: "t")
            #expect(try await chat.add(proposal(#"{"maximum":2}"#), to: "t", ending: first).version.number == 2)
            #expect(try chat.candidateReport(of: "t").schema == json(#"{"maximum":3}"#))
            let key = Candidate.recordKey(of: "t", in: chat.app)
            #expect(try await types.directory.read(key) != nil)
        }
    }

    @Test("must be a schema, of a declared type, and goes when it is dropped")
    func lifetime() async throws {
        try await withChat { chat in
            try await expect(.notFound) { _ = try await chat.setCandidate(json("{}"), for: "t") }
            _ = try await chat.declare("t", settings())
            let error = try await refusal { _ = try await chat.setCandidate(json(#"{"type":1}"#), for: "t") }
            #expect(error.slug == "schema_invalid")
            try await expect(.notFound) { try await chat.dropCandidate(of: "t") }
            _ = try await chat.setCandidate(json("{}"), for: "t")
            try await chat.emit(orderPaid("1", type: "t"))
            #expect(try await chat.setCandidate(json("true"), for: "t").report.accepted == 0)
            try await expect(.forbidden) { _ = try await chat.with(.read).setCandidate(json("{}"), for: "t") }
            // The draft shows events of other senders.
            for scopes in [Scopes.emit, .read] {
                try await expect(.forbidden) { _ = try chat.with(scopes).candidateReport(of: "t") }
            }
            #expect(try chat.with(.manage).candidateReport(of: "t").accepted == 0)
            try await chat.dropCandidate(of: "t")
            try await expect(.notFound) { _ = try chat.candidateReport(of: "t") }
        }
    }

    @Test("remembers few kinds of fault, however many there are")
    func bounded() async throws {
        try await withChat { chat in
            _ = try await chat.declare("t", settings())
            let members = (1...40).map { #""m\#($0)":false"# }.joined(separator: ",")
            _ = try await chat.setCandidate(json(#"{"properties":{\#(members)}}"#), for: "t")
            for index in 1...40 { try await chat.emit(orderPaid(#"{"m\#(index)":1}"#, type: "t")) }
            let report = try chat.candidateReport(of: "t")
            #expect(report.refused == 40)
            #expect(report.samples.count == CandidateCounts.mostSamples)
        }
    }
}

@Suite("Validating") struct ValidationTests {
    @Test("returns the verdict of any version, whatever the mode")
    func versions() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.paid", settings(.off))
            #expect(try await chat.validate(json("7"), as: "order.paid").version == nil)
            _ = try await chat.addVersion(proposal(orderSchema), to: "order.paid")
            _ = try await chat.addVersion(proposal(#"{"type":"object"}"#), to: "order.paid")
            let data = json(#"{"amount":"1"}"#)
            let newest = try await chat.validate(data, as: "order.paid")
            #expect(newest.version == 2)
            #expect(newest.isValid)
            let first = try await chat.with(.emit).validate(data, as: "order.paid", version: 1)
            #expect(!first.isValid)
            #expect(first.version == 1)
            #expect(first.faults.map(\.pointer) == ["#/amount"])
            let basic = try JSONDocument(JSONText { first.printBasic(to: &$0) }).root
            #expect(basic["valid"]?.boolean == false)
            #expect(basic["errors"]?[0]?["instanceLocation"]?.string == "/amount")
            #expect(basic["errors"]?[0]?["keywordLocation"]?.string == "/properties/amount/type")
            for number in [0, 3] {
                try await expect(.notFound) {
                    _ = try await chat.validate(data, as: "order.paid", version: number)
                }
            }
            try await expect(.malformed) { _ = try await chat.validate(json("9223372036854775808"), as: "order.paid") }
        }
    }

    @Test("knows the gateway's own types")
    func builtIn() async throws {
        try await withChat { chat in
            let lagged = try await chat.validate(json(#"{"count":0}"#), as: "stream.lagged")
            #expect(lagged.version == 1)
            #expect(!lagged.isValid)
            #expect(try await chat.validate(json("7"), as: "message.created").isValid)
        }
    }
}

extension ChatAccess {
    fileprivate func isRefused(_ data: String) async -> Bool { (try? await prepare(orderPaid(data))) == nil }

    /// Waits for an effect of another node or of the follower.
    fileprivate func until(_ condition: (ChatAccess) async throws -> Bool) async {
        await waitUntil { (try? await condition(self)) ?? false }
    }
}

/// Two services over one engine, each with a registry of its own, as two nodes have.
private func withTwoNodes(_ body: @Sendable (_ here: ChatAccess, _ there: ChatAccess) async throws -> Void) async throws
{
    let engine = try await SQLiteEngine(
        SQLiteEngineSettings(path: ":memory:", limits: Limits(), clock: .system, logger: ChatFixture.quiet))
    let house = try await ChatFixture(on: engine, clock: .system)
    let other = ChatService(engine: engine, executor: ThreadExecutor(name: "test-hub")!)
    try await house.run([{ try await other.run(whenReady: $0) }]) {
        try await body(house.service.chat(for: ChatFixture.owner), other.chat(for: ChatFixture.owner))
    }
}
