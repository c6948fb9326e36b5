import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("An event type") struct EventTypeTests {
    @Test("is listed as it was declared, beside the gateway's own")
    func declared() async throws {
        try await withChat { chat in
            var wanted = settings(.warn, rule: "full_transitive_lenient")
            wanted.description = "An order was paid."
            wanted.owner = "payments"
            wanted.deprecated = "use order.settled"
            let made = try await chat.declare("order.paid", wanted)
            #expect(made.isNew)
            let type = try chat.eventType("order.paid")
            #expect(type.settings == wanted)
            #expect(type.etag == made.type.etag)
            #expect(type.latestVersion == 0)
            #expect(type.origin == .api)
            let names = try chat.eventTypes().map(\.name)
            #expect(names.contains("order.paid"))
            #expect(names.contains("message.created"))
            #expect(names == names.sorted())
        }
    }

    @Test("is replaced only at the required version")
    func demanded() async throws {
        try await withChat { chat in
            let first = try await chat.declare("order.paid", settings())
            let second = try await chat.declare("order.paid", settings(.warn), precondition: .etag(first.type.etag))
            #expect(!second.isNew)
            #expect(second.type.etag != first.type.etag)
            let stale = try await refusal {
                _ = try await chat.declare("order.paid", settings(.off), precondition: .etag(first.type.etag))
            }
            #expect(stale.code == .stale)
            #expect(try chat.eventType("order.paid").settings.mode == .warn)
            let missing = try await refusal {
                _ = try await chat.declare("order.sent", settings(), precondition: .present)
            }
            #expect(missing.code == .stale)
        }
    }

    @Test("of the gateway cannot be declared, and has a schema", arguments: ["message.created", "order.x", "custom"])
    func builtIn(_ name: String) async throws {
        try await withChat { chat in
            guard name != "order.x" else {
                _ = try await chat.declare(name, settings())
                return
            }
            let error = try await refusal { _ = try await chat.declare(name, settings()) }
            #expect(error.slug == "type_reserved")
            #expect(try chat.eventType(name).isBuiltIn)
            #expect(try await chat.version(1, of: name).number == 1)
            #expect(try await chat.versions(of: name, RecordList(limit: 10)).items.count == 1)
        }
    }

    @Test("needs a name that may be emitted")
    func names() async throws {
        try await withChat { chat in
            for name in ["", "a b", ".a", "a/b", String(repeating: "a", count: 65)] {
                let error = try await refusal { _ = try await chat.declare(name, settings()) }
                #expect(error.code == .malformed, "\(name)")
            }
            #expect(try await chat.declare("user.shouted", settings()).isNew)
        }
    }

    @Test("is changed with 'manage', seen with 'read' or 'emit', and never by another app")
    func rights() async throws {
        try await withChat { chat in
            try await chat.declareOrder()
            for scope in [Scopes.read, .emit] {
                let reader = chat.with(scope)
                #expect(try reader.eventType("order.paid").latestVersion == 1)
                #expect(try await reader.version(1, of: "order.paid").schema == json(orderSchema))
                let denied = try await refusal { _ = try await reader.declare("order.paid", settings(.off)) }
                #expect(denied.code == .forbidden)
                let version = try await refusal { _ = try await reader.addVersion(proposal("{}"), to: "order.paid") }
                #expect(version.code == .forbidden)
                try await expect(.forbidden) { try await reader.removeEventType("order.paid") }
            }
            let narrow = chat.with([.read, .manage], types: [.below("user.")])
            try await expect(.forbidden) { _ = try narrow.eventType("order.paid") }
            #expect(try !narrow.eventTypes().contains { $0.name == "order.paid" })
            try await expect(.forbidden) { _ = try await narrow.declare("order.paid", settings()) }
            let other = chat.with(.admin, in: "other")
            try await expect(.notFound) { _ = try other.eventType("order.paid") }
            try await expect(.notFound) { _ = try await other.version(1, of: "order.paid") }
            #expect(try !other.eventTypes().contains { $0.name == "order.paid" })
        }
    }

    @Test("that has versions is removed only at a known version, and its numbers continue")
    func removal() async throws {
        try await withChat { chat in
            _ = try await chat.declare("order.sent", settings())
            try await chat.removeEventType("order.sent")
            let gone = try await refusal { _ = try chat.eventType("order.sent") }
            #expect(gone.code == .notFound)

            try await chat.declareOrder()
            let kept = try await refusal { try await chat.removeEventType("order.paid") }
            #expect(kept.slug == "event_type_in_use")
            try await chat.removeEventType("order.paid", ifMatch: chat.eventType("order.paid").etag)
            try await chat.emit(orderPaid(#"{"amount":"much"}"#))
            #expect(try await chat.version(1, of: "order.paid").schema == json(orderSchema))

            let again = try await chat.declare("order.paid", settings())
            #expect(again.isNew)
            #expect(again.type.latestVersion == 1)
            let refused = try await refusal { try await chat.emit(orderPaid(#"{"amount":"much"}"#)) }
            #expect(refused.slug == "schema_violation")
            let next = try await chat.addVersion(proposal(#"{"type":["object","string"]}"#), to: "order.paid")
            #expect(next.version.number == 2)
        }
    }

    @Test("is one of a bounded number in its app")
    func bounded() async throws {
        var limits = Limits()
        limits.typesPerApp = 3
        try await withChat(limits: limits) { chat in
            for index in 1...3 { _ = try await chat.declare("t\(index)", settings()) }
            let error = try await refusal { _ = try await chat.declare("t4", settings()) }
            #expect(error.slug == "too_many_event_types")
            _ = try await chat.declare("t3", settings(.off))
            _ = try await chat.with(.admin, in: "other").declare("t4", settings())
        }
        #expect(Limits().typesPerApp == 1000)
    }

    @Test("reads every rule it prints", arguments: CompatibilityRule.allTexts)
    func rules(_ text: String) throws {
        #expect(try #require(CompatibilityRule(text)).text == text)
        #expect(CompatibilityRule(text + "_") == nil)
    }

    @Test(
        "knows no other rule", arguments: ["", "none_transitive", "backwards", "transitive", "full_lenient_transitive"])
    func otherRules(_ text: String) { #expect(CompatibilityRule(text) == nil) }
}
