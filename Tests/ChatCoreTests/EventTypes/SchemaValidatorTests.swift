import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

@Suite("The schema validator") struct SchemaValidatorTests {
    @Test("marks what a schema accepts with its newest version")
    func accepted() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            let first = try await chat.emit(orderPaid(#"{"amount":1}"#))
            #expect(first.event.draft.schema == SchemaReference(type: "order.paid", version: 1))
            _ = try await chat.addVersion(proposal(#"{"type":"object"}"#), to: "order.paid")
            let second = try await chat.emit(orderPaid(#"{"amount":"1"}"#))
            #expect(second.event.draft.schema?.version == 2)
            let stored = try #require(try await chat.kept(on: "orders.eu").last)
            #expect(stored.draft.schema?.version == 2)
            #expect(stored.envelope.description.contains(#""schema":{"type":"order.paid","version":2}"#))
            #expect(try await chat.emit(orderPaid("7", type: "order.other")).event.draft.schema == nil)
        }
    }

    @Test("refuses a violation and stores nothing")
    func enforced() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            let error = try await refusal {
                try await chat.emit([orderPaid(#"{"amount":1}"#), orderPaid(#"{"amount":"1","other":2}"#)])
            }
            #expect(error.code == .invalid)
            #expect(error.slug == "schema_violation")
            #expect(error.faults.map(\.pointer) == ["#/amount"])
            #expect(error.faults.map(\.keyword) == ["type"])
            #expect(error.faults.first?.schema?.hasSuffix("#/properties/amount/type") == true)
            let members = Dictionary(uniqueKeysWithValues: error.members)
            #expect(members == ["event_type": json(#""order.paid""#), "schema_version": json("1")])
            #expect(error.message.contains("#/amount"))
            #expect(try await chat.kept(on: "orders.eu").isEmpty)
        }
    }

    @Test("reads integers exactly, and the last of the members with the same name")
    func parsed() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            let odd = #"{"properties":{"amount":{"type":"integer","not":{"multipleOf":2}}}}"#
            _ = try await chat.addVersion(proposal(odd, forced: "a number no double holds"), to: "order.paid")
            let stored = try await chat.emit(orderPaid(#"{"amount":9007199254740993}"#)).event.draft
            #expect(stored.schema?.version == 2)
            _ = try await chat.emit(orderPaid(#"{"amount":2,"amount":3}"#))
            let error = try await refusal { try await chat.emit(orderPaid(#"{"amount":3,"amount":2}"#)) }
            #expect(error.slug == "schema_violation")
        }
    }

    @Test("checks an event of a batch with the budget of its own bytes")
    func batch() async throws {
        try await withChat { chat in
            _ = try await chat.declare("t", settings())
            let branches = (1...150).map { "{\"multipleOf\":\($0 + 1_000)}" }.joined(separator: ",")
            _ = try await chat.addVersion(proposal("{\"items\":{\"anyOf\":[\(branches)]}}"), to: "t")
            let data = "[" + [String](repeating: "1150", count: 1_000).joined(separator: ",") + "]"
            let error = try await refusal { try await chat.emit(orderPaid(data, type: "t")) }
            #expect(error.faults.map(\.keyword) == ["limit"])
        }
    }

    @Test(
        "refuses integers beyond 64 bits only where a schema is enforced", arguments: EventType.Mode.allCases
    )
    func numbers(_ mode: EventType.Mode) async throws {
        try await withTypes { types, chat in
            _ = try await chat.declare("order.paid", settings(mode))
            _ = try await chat.addVersion(proposal("true"), to: "order.paid")
            let wide = #"{"amount":9223372036854775808}"#
            try await chat.emit(orderPaid(wide, type: "order.other"))
            guard mode == .enforce else {
                let event = try await chat.emit(orderPaid(wide)).event
                #expect(event.draft.schema == nil)
                await types.sendViolations()
                let told = try await chat.kept(on: ChannelID.systemName)
                #expect(told.map(\.type) == (mode == .warn ? ["schema.violated"] : []))
                guard let told = told.first else { return }
                try types.admit(report: told.type, told.data)
                let data = try JSONDocument(told.data).root
                #expect(data["event"]?.string == event.id)
                #expect(data["errors"]?[0]?["keyword"]?.string == "number")
                return
            }
            let error = try await refusal { try await chat.emit(orderPaid(wide)) }
            #expect(error.code == .malformed)
            #expect(error.slug == "number_out_of_range")
        }
    }

    @Test("accepts everything when it is off, and marks events with no version")
    func off() async throws {
        try await withChat { chat in
            try await chat.declareOrder(.off)
            #expect(try await chat.emit(orderPaid("7")).event.draft.schema == nil)
            _ = try await chat.declare("order.paid", settings(.enforce))
            try await expect(.invalid) { try await chat.emit(orderPaid("7")) }
        }
    }

    @Test("never silently accepts an event that it cannot decide", arguments: [EventType.Mode.enforce, .warn])
    func exhausted(_ mode: EventType.Mode) async throws {
        try await withTypes { types, chat in
            _ = try await chat.declare("t", settings(mode))
            // This pattern backtracks exponentially: a back-reference to the match of a nested repetition.
            _ = try await chat.addVersion(proposal(#"{"pattern":"^(?:(a+)+)+\\1c$"}"#), to: "t")
            let draft = orderPaid("\"" + String(repeating: "a", count: 2000) + "\"", type: "t")
            guard mode == .enforce else {
                #expect(try await chat.emit(draft).event.draft.schema == nil)
                await types.sendViolations()
                #expect(try await chat.kept(on: ChannelID.systemName).map(\.type) == ["schema.violated"])
                return
            }
            let error = try await refusal { try await chat.emit(draft) }
            #expect(error.slug == "schema_violation")
            #expect(error.faults.map(\.keyword) == ["limit"])
            #expect(error.message.contains("steps"))
        }
    }

    @Test("requires declared types where the app asks for it")
    func required() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.paid", settings())
            try await expect(.forbidden) { try await chat.with(.manage).requireDeclaredTypes(true) }
            try await chat.requireDeclaredTypes(true)
            #expect(try chat.requiresDeclaredTypes())
            let error = try await refusal { try await chat.emit(orderPaid("7", type: "order.other")) }
            #expect(error.code == .invalid)
            #expect(error.slug == "undeclared_type")
            let untyped = try await refusal { try await chat.emit(EventDraft.event(channel: "a", data: json("7"))) }
            #expect(untyped.slug == "undeclared_type")
            try await chat.emit(orderPaid("7"))
            try await chat.emit(.message(channel: "a", data: json("7"), user: nil, meta: nil))
            try await chat.emit(.signal(channel: "a", data: json("7"), user: nil))
            try await chat.with(.admin, in: "other").emit(orderPaid("7", type: "order.other"))
            try await chat.requireDeclaredTypes(false)
            try await chat.emit(orderPaid("7", type: "order.other"))
        }
    }

    @Test("validates the gateway's own reports against the catalogue")
    func reports() async throws {
        try await withChat { chat in
            try await chat.service.report("stream.lagged", data: json(#"{"count":1}"#), in: chat.app)
            let error = try await refusal {
                try await chat.service.report("stream.lagged", data: json(#"{"count":0}"#), in: chat.app)
            }
            #expect(error.slug == "schema_violation")
            let kept = try await chat.kept(on: ChannelID.systemName)
            #expect(kept.map(\.type) == ["stream.lagged"])
            #expect(kept[0].draft.schema == nil)
        }
    }

    @Test("in mode warn accepts violations, and reports many to the operators in one event")
    func warned() async throws {
        try await withTypes { types, chat in
            try await chat.declareOrder(.warn)
            #expect(try await chat.emit(orderPaid(#"{"amount":1}"#)).event.draft.schema?.version == 1)
            var last: Event?
            for index in 1...50 {
                let event = try await chat.emit(orderPaid(#"{"amount":"\#(index)"}"#)).event
                #expect(event.draft.schema == nil)
                last = event
            }
            await types.sendViolations()
            await types.sendViolations()
            let kept = try await chat.kept(on: ChannelID.systemName)
            #expect(kept.map(\.type) == ["schema.violated"])
            let data = try JSONDocument(try #require(kept.first).data).root
            #expect(data["event_type"]?.string == "order.paid")
            #expect(data["schema_version"]?.integer == 1)
            #expect(data["count"]?.integer == 50)
            #expect(data["event"]?.string == last?.id)
            #expect(data["channel"]?.string == "orders.eu")
            #expect(data["errors"]?[0]?["pointer"]?.string == "#/amount")
            #expect(data["errors"]?[0]?["keyword"]?.string == "type")
            try types.admit(report: "schema.violated", kept[0].data)
        }
    }

    @Test("reports a few types of an app at a time, and the others next")
    func fewAtOnce() async throws {
        try await withTypes { types, chat in
            for index in 1...6 {
                _ = try await chat.declare("t\(index)", settings(.warn))
                _ = try await chat.addVersion(proposal("false"), to: "t\(index)")
                try await chat.emit(orderPaid("1", type: "t\(index)"))
            }
            await types.sendViolations()
            #expect(try await chat.kept(on: ChannelID.systemName).count == 4)
            await types.sendViolations()
            let told = try await chat.kept(on: ChannelID.systemName).map {
                try JSONDocument($0.data).root["event_type"]?.string
            }
            #expect(Set(told) == ["t1", "t2", "t3", "t4", "t5", "t6"])
            #expect(told.count == 6)
        }
    }

    @Test("reports violations by itself while the chat runs")
    func told() async throws {
        try await withChat { chat in
            try await chat.declareOrder(.warn)
            try await chat.emit(orderPaid("7"))
            var batches = await chat.log.committed().makeAsyncIterator()
            while try await chat.kept(on: ChannelID.systemName).isEmpty { _ = await batches.next() }
            #expect(try await chat.kept(on: ChannelID.systemName).map(\.type) == ["schema.violated"])
        }
    }

    @Test("does not report an event that was stored before")
    func repeated() async throws {
        try await withTypes { types, chat in
            try await chat.declareOrder(.warn)
            var draft = orderPaid("7")
            draft.deduplicationKey = "once"
            for _ in 1...3 { try await chat.emit(draft) }
            await types.sendViolations()
            let data = try #require(try await chat.kept(on: ChannelID.systemName).first).data
            #expect(try JSONDocument(data).root["count"]?.integer == 1)
        }
    }
}

/// Runs like `withChat`, but sends no reports unless the test asks for them.
private func withTypes(_ body: @Sendable (EventTypes, ChatAccess) async throws -> Void) async throws {
    let engine = try await SQLiteEngine(
        SQLiteEngineSettings(path: ":memory:", limits: Limits(), clock: .system, logger: ChatFixture.quiet))
    let service = ChatService(engine: engine, executor: ThreadExecutor(name: "test-hub")!)
    do {
        try await body(service.eventTypes, service.chat(for: ChatFixture.owner))
    } catch {
        await engine.close()
        throw error
    }
    await engine.close()
}

extension ChatAccess {
    func requireDeclaredTypes(_ isRequired: Bool) async throws(ChatError) {
        try await service.change(app, AppChange(requiresDeclaredTypes: isRequired), by: caller)
    }
}
