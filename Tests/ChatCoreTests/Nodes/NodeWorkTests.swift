import ChatModel
import ChatSupport
import JSON
import Locking
import Signing
import TestSupport
import Testing

@testable import ChatCore

@Suite("Work that every node does", .timeLimit(.minutes(1))) struct NodeWorkTests {
    @Test("ends a restriction once, also if its node has gone")
    func restriction() async throws {
        try await TwoNodes.run { nodes in
            let until = nodes.clock.now.adding(.seconds(60))
            _ = try await nodes.first.chat.restrict("ben", in: "crew", RestrictionRequest(isMute: true, until: until))
            _ = try await nodes.first.chat.restrict("carl", in: "crew", RestrictionRequest(isMute: true, until: until))
            nodes.clock.advance(by: .seconds(61))
            await nodes.second.service.sweepRestrictions()
            #expect(try await nodes.events("user.unmuted", on: "crew").count == 2)
            async let other: Void = nodes.first.service.sweepRestrictions()
            async let again: Void = nodes.second.service.sweepRestrictions()
            _ = await (other, again)
            #expect(try await nodes.events("user.unmuted", on: "crew").count == 2)
        }
    }

    @Test("removes the members of a deleted channel, and leaves a new channel of the same name alone")
    func sweep() async throws {
        try await TwoNodes.run { nodes in
            try await nodes.first.chat.makeChannel("crew", .group, users: ["ana", "ben"], by: nil)
            try await nodes.second.engine.fallBehind()
            _ = try await nodes.first.chat.delete(channel: "crew")
            try await nodes.second.chat.makeChannel("crew", .group, users: ["carl"], by: nil)
            async let one = nodes.first.service.sweepDeleted()
            async let other = nodes.second.service.sweepDeleted()
            #expect(await one)
            #expect(await other)
            try await nodes.settle()
            await waitUntil { nodes.second.service.pendingDeletions.pending.isEmpty }
            #expect(try await nodes.first.chat.memberships(of: "crew").map(\.user) == ["carl"])
            #expect(try await nodes.second.chat.counts(of: "crew") == MemberCounts(all: 1, joined: 1))
        }
    }

    @Test("removes the records of old messages, and counts each reply less once")
    func gleaning() async throws {
        try await TwoNodes.run { nodes in
            let root = try await nodes.first.room(nodes.clock).say("root", in: "crew", by: "ana").timetoken
            var replies: [Timetoken] = []
            for user in ["ben", "carl"] {
                var reply = EventDraft.message(channel: "crew", data: Room.text("reply"), user: user, meta: nil)
                if user == "ben" { reply.timeToLive = .seconds(60) }
                let sent = try await nodes.first.chat.post(reply, MessageLinks(threadOf: root)).events[0].event
                replies.append(sent.timetoken)
            }
            try await nodes.first.chat.react("smile", to: replies[0], in: "crew", by: "ana")
            nodes.clock.advance(by: .seconds(61))
            async let one: Void = nodes.first.service.cleanUp(ChatFixture.app)
            async let other: Void = nodes.second.service.cleanUp(ChatFixture.app)
            _ = await (one, other)
            #expect(try await nodes.second.chat.message(root, in: "crew").record.thread.replies == 1)
        }
    }

    @Test("counts messages as read that another node has marked, and reports each count once")
    func unread() async throws {
        try await TwoNodes.run { nodes in
            let room = nodes.first.room(nodes.clock)
            let user = UserID("ben", in: ChatFixture.app)
            try await room.establish("crew", members: ["ana", "ben"])
            room.advance(.seconds(1))
            /// Lets both nodes report at the same time, until there is nothing more to report.
            func report() async throws {
                for _ in 0..<3 {
                    async let one: Void = nodes.first.service.unread.reportChanges()
                    async let other: Void = nodes.second.service.unread.reportChanges()
                    _ = await (one, other)
                    for node in [nodes.first, nodes.second] { _ = try await node.chat.unread(of: "ben") }
                }
            }
            func reported() async throws -> [Int64?] {
                try await nodes.events("unread_count.updated", on: "ben").map { $0.json?["unread_count"]?.integer }
            }
            for node in [nodes.first, nodes.second] { await node.service.watchUnread(of: user, isOn: true) }
            try await report()
            let begin = try await reported().count
            try await room.say("1", in: "crew", by: "ana")
            for node in [nodes.first, nodes.second] { #expect(try await node.chat.unread(of: "ben").total == 1) }
            try await report()
            _ = try await nodes.first.chat.mark(.read, "ben", in: "crew")
            #expect(try await nodes.second.chat.unread(of: "ben").total == 0)
            try await report()
            #expect(try await reported().dropFirst(begin) == [1, 0])
        }
    }

    @Test("announces the last message of a channel once")
    func activity() async throws {
        try await TwoNodes.run { nodes in
            for node in [nodes.first, nodes.second] {
                let webhook = SubscriberID("hook", in: ChatFixture.app)
                node.service.followActivity(ChannelSet(app: ChatFixture.app, isAll: true), by: webhook)
            }
            let room = nodes.first.room(nodes.clock)
            try await room.establish("crew", members: ["ana"])
            for text in ["1", "2"] {
                room.advance(.seconds(2))
                try await room.say(text, in: "crew", by: "ana")
                try await nodes.settle()
                async let one: Void = nodes.first.service.activity.report()
                async let other: Void = nodes.second.service.activity.report()
                _ = await (one, other)
                // Each node also has a task that reports.
                try await waitUntil { try await nodes.events("channel.activity", on: "crew").count == Int(text) }
                try await nodes.settle()
            }
            room.advance(.seconds(2))
            for node in [nodes.first, nodes.second] { await node.service.activity.report() }
            let told = try await nodes.events("channel.activity", on: "crew").map(\.json)
            #expect(told.map { $0?["last_message"]?["data"]?["text"]?.string } == ["1", "2"])
        }
    }

    @Test("reports a version that cannot be used once")
    func unusable() async throws {
        try await TwoNodes.run { nodes in
            let version = UnusableVersion(app: ChatFixture.app, type: "order.paid", number: 3, fault: "it is broken")
            for node in [nodes.first, nodes.second] { await node.service.eventTypes.report(of: version) }
            let kept = try await nodes.first.chat.kept(on: ChannelID.systemName)
            #expect(kept.count == 1)
        }
    }

    @Test("adds up the results of a candidate")
    func candidate() async throws {
        try await TwoNodes.run { nodes in
            try await nodes.first.chat.declareOrder(.off)
            _ = try await nodes.first.chat.setCandidate(json(orderSchema), for: "order.paid")
            try await nodes.settle()
            for (node, count) in [(nodes.first, 2), (nodes.second, 3)] {
                for number in 0..<count { try await node.chat.emit(orderPaid(number == 0 ? "{}" : #"{"amount":1}"#)) }
            }
            // The tasks of the nodes also write, but pause for longer than the test takes.
            try await waitUntil {
                for node in [nodes.first, nodes.second] { await node.service.eventTypes.writeCounts() }
                try await nodes.settle()
                let reports = try [nodes.first, nodes.second].map { try $0.chat.candidateReport(of: "order.paid") }
                return reports.allSatisfy {
                    $0.accepted == 3 && $0.refused == 2 && $0.samples.map(\.count) == [2]
                }
            }
            nodes.clock.advance(by: .seconds(1))
            _ = try await nodes.second.chat.setCandidate(json(orderSchema), for: "order.paid")
            try await nodes.settle()
            #expect(try nodes.first.chat.candidateReport(of: "order.paid").refused == 0)
        }
    }

    @Test("merges the times at which keys were used")
    func keyUses() async throws {
        try await TwoNodes.run { nodes in
            let keys = (
                try await nodes.first.keyring.issueKey(scopes: [.read], by: ChatFixture.owner),
                try await nodes.first.keyring.issueKey(scopes: [.read], by: ChatFixture.owner)
            )
            try await nodes.settle()
            #expect(nodes.first.keyring.caller(of: Secret(text: keys.0.text)) != nil)
            #expect(nodes.second.keyring.caller(of: Secret(text: keys.1.text)) != nil)
            async let one: Void = nodes.first.keyring.writeUses()
            async let other: Void = nodes.second.keyring.writeUses()
            _ = await (one, other)
            try await nodes.settle()
            for node in [nodes.first, nodes.second] {
                #expect(node.keyring.lastUse(of: keys.0.key) == nodes.clock.now)
                #expect(node.keyring.lastUse(of: keys.1.key) == nodes.clock.now)
            }
        }
    }

    @Test("removes no more entries of the audit log than one node does")
    func audit() async throws {
        var limits = Limits()
        limits.auditEntries = 20
        limits.pageMost = 4
        try await TwoNodes.run(limits: limits) { nodes in
            let audit = nodes.first.service.audit
            for _ in 0..<40 {
                await audit.write(AuditOperation(action: "key.create", actor: "key_1"), in: ChatFixture.app)
            }
            async let one: Void = nodes.first.service.audit.sweep(ChatFixture.app)
            async let other: Void = nodes.second.service.audit.sweep(ChatFixture.app)
            _ = try await (one, other)
            let left = try await nodes.first.chat.directory.list(RecordQuery(.audit, in: ChatFixture.app, limit: 100))
            #expect(left.items.count == 20)
        }
    }

    @Test("keeps a stored response whose key is used again while old ones are removed")
    func answers() async throws {
        try await TwoNodes.run { nodes in
            let (first, second) = (nodes.first.service, nodes.second.service)
            /// Begins a request with the same idempotency key.
            @Sendable func begin() async throws {
                let earlier = try await second.answers.begin("s", fingerprint: "f", in: ChatFixture.app)
                guard case .none(let pending) = earlier else {
                    Issue.record("the key is in use")
                    return
                }
                try await second.answers.write(pending)
            }
            try await begin()
            nodes.clock.advance(by: first.limits.repeatWindow + .seconds(1))
            let directory = InterruptedDirectory(real: first.engine.directory) { try? await begin() }
            let answers = StoredAnswers(
                directory: directory, clock: nodes.clock.wallClock, window: first.limits.repeatWindow)
            try await answers.sweep(ChatFixture.app)
            #expect(try await first.engine.directory.read(RecordKey(.answer, "s", in: ChatFixture.app)) != nil)
        }
    }

    @Test("keeps the newest retention, also if another node applies an older one meanwhile")
    func retention() async throws {
        try await TwoNodes.run { nodes in
            var change = AppChange()
            change.retention = .limited(.seconds(3600))
            try await nodes.first.service.change(ChatFixture.app, change, by: ChatFixture.owner)
            try await nodes.settle()
            let sent = try await nodes.first.room(nodes.clock).say("1", in: "crew", by: "ana").timetoken
            let front = HeldEngine(nodes.second.engine, holding: .app)
            let starting = ChatService(
                engine: front, clock: nodes.clock.wallClock,
                executor: try #require(ThreadExecutor(name: "test-hub-3")))
            _ = try await starting.keyring.load()
            async let applied: Void = starting.applyRetentions()
            await front.held.reached.wait(count: 1)
            change.retention = .forever
            try await nodes.first.service.change(ChatFixture.app, change, by: ChatFixture.owner)
            front.held.released.open()
            try await applied
            nodes.clock.advance(by: .seconds(7200))
            #expect(try await nodes.first.service.engine.log.event(at: sent, in: ChatFixture.app) != nil)
        }
    }
}

/// A directory after whose first listing something happens, before the caller gets the page.
private struct InterruptedDirectory: Directory {
    let real: any Directory
    let happens: @Sendable () async -> Void
    let listings = Observed(0)

    init(real: any Directory, _ happens: @escaping @Sendable () async -> Void) {
        self.real = real
        self.happens = happens
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        let page = try await real.list(query)
        listings.increment()
        if listings.value == 1 { await happens() }
        return page
    }

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] { try await real.read(keys) }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        try await real.write(changes, events: events)
    }

    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> { try await real.decide(keys, decide) }

    func changes(after revision: Revision) async -> RecordChangeSequence { await real.changes(after: revision) }
    func revision() async throws(ChatError) -> Revision { try await real.revision() }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) { real.observe(body) }
}
