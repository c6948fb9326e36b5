import ChatModel
import JSON
import Testing

@testable import ChatCore

private func file(_ name: String, _ text: String) throws -> EventTypeDeclaration {
    try EventTypeDeclaration(file: name, Array(text.utf8), limits: Limits())
}

private let paid = #"{"description":"Paid.","mode":"warn","schema":\#(orderSchema),"examples":[{"amount":1}]}"#

/// Runs `body` and returns the fault that it reports about a file.
private func complaint(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws -> DeclarationError {
    do {
        try await body()
    } catch let error as DeclarationError {
        return error
    }
    return try #require(nil, "nothing was thrown", sourceLocation: sourceLocation)
}

@Suite("Types declared by files") struct DeclarationTests {
    @Test("are declared, and a repeat changes nothing")
    func idempotent() async throws {
        try await withChat { chat in
            let types = chat.service.eventTypes
            let files = [try file("order.paid.json", paid), try file("order.sent.json", "{}")]
            let first = try await types.apply(files, to: chat.app)
            #expect(
                first == [
                    DeclarationResult(name: "order.paid", version: 1, isNewVersion: true),
                    DeclarationResult(name: "order.sent", version: 0, isNewVersion: false),
                ])
            let type = try chat.eventType("order.paid")
            #expect(type.origin == .file)
            #expect(type.settings.mode == .warn)
            #expect(type.settings.description == "Paid.")
            #expect(try await chat.version(1, of: "order.paid").schema == json(orderSchema))
            #expect(try await chat.emit(orderPaid(#"{"amount":1}"#)).event.draft.schema?.version == 1)
            let second = try await types.apply(files, to: chat.app)
            #expect(second.map(\.isNewVersion) == [false, false])
            #expect(try chat.eventType("order.paid").etag == type.etag)
        }
    }

    @Test("get a new version when the schema has changed, under their rule")
    func changed() async throws {
        try await withChat { chat in
            let types = chat.service.eventTypes
            _ = try await types.apply([try file("order.paid.json", paid)], to: chat.app)
            let wider = try file("order.paid.json", #"{"schema":{"type":"object"}}"#)
            let applied = try await types.apply([wider], to: chat.app)
            #expect(applied == [DeclarationResult(name: "order.paid", version: 2, isNewVersion: true)])
            let narrower = #""schema":{"type":"object","required":["currency"]}"#
            let error = try await complaint {
                _ = try await types.apply([try file("order.paid.json", "{\(narrower)}")], to: chat.app)
            }
            #expect(error.file == "order.paid.json")
            #expect(error.pointer == "#/schema/required")
            #expect(error.message.contains("version 3"))
            #expect(try chat.eventType("order.paid").latestVersion == 2)
            _ = try await types.apply(
                [try file("order.paid.json", "{\(narrower),\"force\":\"agreed\"}")], to: chat.app)
            #expect(try await chat.version(3, of: "order.paid").forced == "agreed")
        }
    }

    @Test("are taken all or none")
    func together() async throws {
        try await withChat { chat in
            let types = chat.service.eventTypes
            let good = try file("a.json", "{}")
            let cases = [
                (#"{"schema":{"type":1}}"#, "#/schema/type"),
                (#"{"schema":{"type":"string"},"examples":["x",7]}"#, "#/examples/1"),
                (#"{"schema":{"type":"string"},"counter_examples":["x"]}"#, "#/counter_examples/0"),
            ]
            for (text, pointer) in cases {
                let error = try await complaint {
                    _ = try await types.apply([good, try file("b.json", text)], to: chat.app)
                }
                #expect(error.file == "b.json")
                #expect(error.pointer == pointer)
                #expect(try chat.eventTypes().filter { !$0.isBuiltIn }.isEmpty)
            }
            _ = try await types.apply([good], to: chat.app)
        }
    }

    @Test("continue the versions of a type that was removed")
    func removed() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            try await chat.removeEventType("order.paid", ifMatch: chat.eventType("order.paid").etag)
            _ = try await chat.service.eventTypes.apply([try file("order.paid.json", "{}")], to: chat.app)
            #expect(try chat.eventType("order.paid").latestVersion == 1)
            try await expect(.invalid) { try await chat.emit(orderPaid("7")) }
        }
    }

    @Test(
        "are read strictly",
        arguments: [
            ("order.paid.json", "{", nil), ("order.paid.json", "[]", "#"), ("a b.json", "{}", nil),
            ("message.created.json", "{}", nil), ("order.paid.yaml", "{}", nil),
            ("order.paid.json", #"{"shema":{}}"#, "#/shema"), ("order.paid.json", #"{"mode":"on"}"#, "#/mode"),
            ("order.paid.json", #"{"mode":1}"#, "#/mode"),
            ("order.paid.json", #"{"compatibility":"x"}"#, "#/compatibility"),
            ("order.paid.json", #"{"examples":[1]}"#, "#/examples"),
            ("order.paid.json", #"{"schema":{},"examples":1}"#, "#/examples"),
            ("order.paid.json", #"{"schema":{},"schema":{}}"#, nil),
        ] as [(String, String, String?)])
    func strict(_ name: String, _ text: String, _ pointer: String?) async throws {
        let error = try await complaint { _ = try file(name, text) }
        #expect(error.file == name)
        #expect(error.pointer == pointer)
    }
}

@Suite("A drafted schema") struct SchemaDraftTests {
    @Test("describes the last events of its type, on the channels its reader reaches")
    func drafted() async throws {
        try await withChat { chat in
            try await expect(.notFound) { _ = try await chat.draftSchema(of: "order.paid", last: 10) }
            for index in 1...20 {
                try await chat.emit(orderPaid(#"{"amount":\#(index)}"#))
                try await chat.emit(
                    EventDraft.event(channel: "other", type: "order.paid", data: json(#"{"amount":"x"}"#)))
                try await chat.emit(orderPaid(#"{"name":"\#(index)"}"#, type: "order.sent"))
            }
            let all = try await chat.draftSchema(of: "order.paid", last: 15)
            #expect(all.events == 15)
            let narrow = chat.service.chat(
                for: Caller(
                    app: chat.app, credential: "key_n", scopes: [.read], channels: [.below("orders.")]))
            let draft = try await narrow.draftSchema(of: "order.paid", last: 1000)
            #expect(draft.events == 20)
            _ = try await chat.declare("order.paid", settings())
            _ = try await chat.addVersion(SchemaProposal(schema: draft.schema), to: "order.paid")
            try await chat.emit(orderPaid(#"{"amount":21}"#))
            try await expect(.invalid) { try await chat.emit(orderPaid(#"{"amount":"21"}"#)) }
            try await expect(.forbidden) { _ = try await chat.with(.emit).draftSchema(of: "order.paid", last: 1) }
            for count in [0, 1001] {
                try await expect(.malformed) { _ = try await chat.draftSchema(of: "order.paid", last: count) }
            }
        }
    }
}
