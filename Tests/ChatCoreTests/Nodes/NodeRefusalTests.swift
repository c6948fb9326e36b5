import ChatModel
import ChatSupport
import JSON
import Signing
import TestSupport
import Testing

@testable import ChatCore

@Suite("A node that has not seen the newest commits", .timeLimit(.minutes(1))) struct NodeRefusalTests {
    @Test("accepts a key that another node has issued")
    func key() async throws {
        try await TwoNodes.run { nodes in
            try await nodes.second.engine.fallBehind()
            let issued = try await nodes.first.keyring.issueKey(scopes: [.read], by: ChatFixture.owner)
            let text = Secret(text: issued.text)
            #expect(nodes.second.keyring.caller(of: text) == nil)
            let caller = try await nodes.second.service.confirmingRefusal { () throws(ChatError) in
                guard let caller = nodes.second.keyring.caller(of: text) else { throw Self.unknown }
                return caller
            }
            #expect(caller.credential == issued.key.id)
        }
    }

    private static let unknown = ChatError(.unauthorized, "no such key")

    @Test("reads the store once for many requests with unknown keys")
    func manyUnknown() async throws {
        try await TwoNodes.run { nodes in
            let before = nodes.second.engine.revisionReads
            let start = ContinuousClock.now
            try await atOnce(1000) { number async throws in
                let error = await #expect(throws: ChatError.self) {
                    try await nodes.second.service.confirmingRefusal { () throws(ChatError) in throw Self.unknown }
                }
                #expect(error?.code == .unauthorized)
            }
            let reads = nodes.second.engine.revisionReads - before
            #expect(Duration.milliseconds(10) * (reads - 1) <= .now - start)
            #expect((1...1000).contains(reads))
        }
    }

    @Test("lets requests that are rejected one after the other wait for their read")
    func inARow() async throws {
        try await TwoNodes.run { nodes in
            let start = ContinuousClock.now
            for _ in 0..<5 { try await nodes.second.service.catchUp() }
            #expect(.now - start >= .milliseconds(40))
        }
    }

    @Test("changes and removes an app that another node has added")
    func app() async throws {
        try await TwoNodes.run { nodes in
            let issued = try await nodes.first.keyring.issueKey(scopes: [.admin], by: ChatFixture.owner)
            let admin = try #require(nodes.first.keyring.caller(of: Secret(text: issued.text)))
            try await nodes.second.engine.fallBehind()
            let made = try await nodes.first.keyring.issueApp(name: "acme", by: admin)
            var change = AppChange()
            change.retention = .limited(.seconds(7200))
            let changed = try await nodes.second.service.change(made.app.id, change, by: admin)
            #expect(changed.retention == .seconds(7200))
            try await nodes.second.keyring.removeApp(made.app.id.name, by: admin)
            try await nodes.settle()
            for node in [nodes.first, nodes.second] {
                #expect(node.keyring.caller(of: Secret(text: made.admin.text)) == nil)
            }
        }
    }

    @Test("accepts events of a type, and of a version, that another node has declared")
    func types() async throws {
        try await TwoNodes.run { nodes in
            try await nodes.first.service.change(
                ChatFixture.app, AppChange(requiresDeclaredTypes: true), by: ChatFixture.owner)
            try await nodes.settle()
            try await nodes.second.engine.fallBehind()
            try await nodes.first.chat.declareOrder(.enforce, rule: "none")
            try await nodes.second.chat.emit(orderPaid(#"{"amount":1}"#))
            _ = try await nodes.first.chat.addVersion(proposal(#"{"type":"string"}"#), to: "order.paid")
            try await nodes.second.chat.emit(orderPaid(#""one""#))
            let error = await #expect(throws: ChatError.self) {
                try await nodes.second.chat.emit(orderPaid("1", type: "order.lost"))
            }
            #expect(error?.slug == "undeclared_type")
            _ = try await nodes.first.chat.addVersion(proposal(#"{"type":"array"}"#), to: "order.paid")
            let drafts = [orderPaid("[]"), orderPaid("2")].map { Result<EventDraft, ChatError>.success($0) }
            var budget = ValidationBudget()
            let prepared = try await nodes.second.chat.prepare(drafts, within: &budget).results
            #expect((try? prepared[0].get()) != nil && (try? prepared[1].get()) == nil)
            _ = try await nodes.first.chat.setCandidate(json("{}"), for: "order.paid")
            #expect(try await nodes.second.chat.promoteCandidate(of: "order.paid").isNew)
            #expect(try await nodes.second.chat.versions(of: "order.paid", RecordList(limit: 9)).items.count == 4)
        }
    }

    @Test("lets members of a private channel in whom another node has added, and users write whom it has unbanned")
    func members() async throws {
        try await TwoNodes.run { nodes in
            let ben = nodes.second.chat.acting(as: "ben")
            let draft = EventDraft.message(channel: "crew", data: Room.text("hello"), user: "ben", meta: nil)
            try await nodes.first.chat.makeChannel("crew", .group, users: ["ana"], by: nil)
            try await expect(slug: "not_a_member") { try await ben.emit(draft) }
            #expect(try await ben.inaccessible(of: [ExactText("crew")]) == [ExactText("crew")])
            try await nodes.settle()
            try await nodes.second.engine.fallBehind()
            _ = try await nodes.first.chat.join("ben", to: "crew")
            try await ben.requireAccess(of: "crew")
            #expect(try await ben.inaccessible(of: [ExactText("crew")]).isEmpty)
            _ = try await nodes.first.chat.restrict("ben", in: "crew", RestrictionRequest(isMute: true))
            try await expect(slug: "muted") { try await ben.emit(draft) }
            try await nodes.first.chat.lift(restrictionOf: "ben", in: "crew")
            try await ben.emit(draft)
        }
    }

    @Test("stores an event although the rules of its channel have changed, by the newest rules")
    func rules() async throws {
        try await TwoNodes.run { nodes in
            try await nodes.first.chat.makeChannel("crew", .public, users: ["ben"], by: nil)
            let draft = EventDraft.event(channel: "crew", type: "note", data: json("1"))
            #expect(try await nodes.second.chat.emit(draft).event.audience == .subscribers)
            try await nodes.second.engine.fallBehind()
            _ = try await nodes.first.chat.delete(channel: "crew")
            try await nodes.first.chat.makeChannel("crew", .group, users: ["ben"], by: nil)
            #expect(try await nodes.second.chat.emit(draft).event.audience == .insiders)
        }
    }

    @Test("counts the deletions of another node")
    func deletions() async throws {
        try await TwoNodes.run { nodes in
            let sent = try await nodes.first.room(nodes.clock).say("1", in: "crew", by: "ana").timetoken
            try await nodes.settle()
            let before = nodes.second.service.deletions
            try await nodes.first.chat.delete(sent, in: "crew", isHard: true, by: "ana")
            try await nodes.settle()
            #expect(nodes.second.service.deletions > before)
        }
    }
}
