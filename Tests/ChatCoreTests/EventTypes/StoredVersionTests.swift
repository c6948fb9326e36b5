import ChatModel
import ChatSupport
import Foundation
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

@Suite("A stored version") struct StoredVersionTests {
    @Test("is in effect after a restart with a lower limit, and new versions are compared with it")
    func lowerLimit() async throws {
        let long = longSchema(2000)
        try await withStore { path in
            try await withChat(path: path) { chat in
                _ = try await chat.declare("t", settings())
                _ = try await chat.addVersion(proposal(long), to: "t")
                _ = try await chat.addVersion(proposal(longSchema(2100)), to: "t")
                _ = try await chat.setCandidate(json(long), for: "t")
            }
            var limits = Limits()
            limits.schemaBytes = 1024
            try await withChat(path: path, limits: limits) { chat in
                try await chat.emit(orderPaid(#"{"amount":1}"#, type: "t"))
                #expect(try chat.candidateReport(of: "t").accepted == 1)
                let violation = try await refusal { try await chat.emit(orderPaid(#"{"amount":"1"}"#, type: "t")) }
                #expect(violation.faults.map(\.pointer) == ["#/amount"])
                #expect(try await chat.validate(json("1"), as: "t", version: 1).faults.map(\.keyword) == ["type"])
                #expect(try await !chat.addVersion(proposal(longSchema(2100)), to: "t").isNew)
                try await expect(.tooLarge) { _ = try await chat.addVersion(proposal(long), to: "t") }
                let narrower = try await refusal { _ = try await chat.addVersion(proposal("false"), to: "t") }
                #expect(narrower.members.map(\.name).contains("witness"))
                #expect(try await chat.addVersion(proposal(#"{"type":"object"}"#), to: "t").version.number == 3)
            }
        }
    }

    @Test("that cannot be used is reported to log and operators, and a forced version replaces it")
    func unusable() async throws {
        try await withStore { path in
            try await withChat(path: path) { chat in
                try await chat.declareOrder()
                let key = SchemaVersion.recordKey(1, of: "order.paid", in: chat.app)
                var broken = try await chat.version(1, of: "order.paid")
                broken.schema = json(#"{"type":"of a later release"}"#)
                let change = RecordChange(key, body: broken.body, parent: "order.paid")
                _ = try await chat.service.engine.directory.write([change], events: [])
            }
            let engine = try await SQLiteEngine(
                SQLiteEngineSettings(path: path, limits: Limits(), clock: .system, logger: ChatFixture.quiet))
            let house = try await ChatFixture(on: engine, clock: .system)
            let told = Observed<[UnusableVersion]>()
            house.service.eventTypes.observeUnusable { told.append($0) }
            try await house.run {
                let chat = house.service.chat(for: ChatFixture.owner)
                #expect(told.value.map(\.type) == ["order.paid"])
                #expect(told.value.map(\.number) == [1])
                let notices = try await chat.kept(on: ChannelID.systemName)
                #expect(notices.map(\.type) == ["schema.unusable"])
                for notice in notices { try chat.service.eventTypes.admit(report: notice.type, notice.data) }
                try await expect(.invalid) { try await chat.emit(orderPaid(#"{"amount":1}"#)) }
                let next = proposal(orderSchema)
                let error = try await refusal { _ = try await chat.addVersion(next, to: "order.paid") }
                #expect(error.slug == "incompatible_schema")
                let forced = proposal(orderSchema, forced: "version 1 cannot be used")
                #expect(try await chat.addVersion(forced, to: "order.paid").version.forced != nil)
                try await chat.emit(orderPaid(#"{"amount":1}"#))
            }
        }
    }

    private func longSchema(_ count: Int) -> String {
        orderSchema.dropLast() + #","description":"\#(String(repeating: "x", count: count))"}"#
    }
}

/// Runs `body` with the path of a database that can be opened more than once.
private func withStore(_ body: (_ path: String) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await body(folder.database)
}
