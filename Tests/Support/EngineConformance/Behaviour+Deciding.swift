import ChatModel
import JSON
import Locking
import TestSupport
import Testing

extension Behaviour {
    /// Effects of a decision other than record changes.
    static let deciding: [Behaviour] = [
        Behaviour("a decision has the timetokens of its events, however many run at once") { trial in
            let nodes = await trial.subject.nodes
            let app = trial.app
            try await concurrently(50) { number in
                let decided = try await nodes[number % nodes.count].directory.decide([]) {
                    snapshot throws(ChatError) in
                    #expect(snapshot.now <= snapshot.next)
                    let entry = ChannelID("room", in: app)
                    let drafts = (0..<3).map { _ in
                        EventDraft(channel: entry, type: "t", data: JSONText(string: snapshot.next.description))
                    }
                    return Decision((0..<3).map { snapshot.place(of: $0) }, events: drafts)
                }
                #expect(decided.events.map(\.timetoken) == decided.value)
            }
            let events = try await trial.history("room")
            #expect(events.count == 150 && events.isStrictlyIncreasing)
        },
        Behaviour("an append is refused if a record of its user or channel has changed since, and for no other change")
        {
            trial in
            let directory = await trial.directory
            let log = await trial.log
            let app = trial.app
            let keys = [
                RestrictionRecord.key("ana", "room", in: app), MembershipRecord.key("ana", "room", in: app),
                ChannelRecord.key("room", in: app),
            ]
            for retention in [Retention.kept, .passing] {
                var draft = trial.draft("room", "1", retention: retention)
                draft.user = "ana"
                for (index, key) in keys.enumerated() {
                    for body in [trial.json("{}"), nil] {
                        let revision = try await directory.revision()
                        _ = try await directory.write([RecordChange(key, body: body)])
                        let draft = draft
                        await trial.refusal(.stale) {
                            _ = try await log.append([draft], claim: nil, unlessChangedSince: revision)
                        }
                        // Without a user: only the channel's record counts.
                        var anybody = draft
                        anybody.user = nil
                        if index < 2 { _ = try await log.append([anybody], claim: nil, unlessChangedSince: revision) }
                    }
                }
                let revision = try await directory.revision()
                _ = try await directory.write([
                    RecordChange(RestrictionRecord.key("ana", "hall", in: app), body: trial.json("{}"))
                ])
                _ = try await log.append([draft], claim: nil, unlessChangedSince: revision)
                _ = try await directory.write([
                    RecordChange(RestrictionRecord.key("ana", "hall", in: app), body: nil)
                ])
            }
            let events = try await trial.readAll(trial.names("room"))
            #expect(events.filter { $0.user == "ana" }.count == 2 && events.count == 10)
        },
        Behaviour("an observer of records receives a change before its events can be followed") { trial in
            let nodes = await trial.subject.nodes
            let app = trial.app
            let known = Lock<Set<RecordKey>>([])
            await trial.otherNode.directory.observe { changes in known.withLock { $0.formUnion(changes.keys) } }
            let commits = await trial.otherNode.log.committed()
            async let unheard = {
                var unheard: [Event] = []
                var seen = 0
                for await commit in commits {
                    for event in commit.events {
                        let key = RecordKey(.channel, event.channel.name, in: app)
                        if !known.withLock({ $0.contains(key) }) { unheard.append(event) }
                    }
                    seen += commit.events.count
                    if seen >= 200 { break }
                }
                return unheard
            }()
            try await concurrently(200) { number in
                let key = RecordKey(.channel, "room\(number)", in: app)
                _ = try await nodes[number % nodes.count].directory.write(
                    [RecordChange(key, body: trial.json("{}"))], events: [trial.draft(key.id, "1")])
                #expect(number % nodes.count != nodes.count - 1 || known.withLock { $0.contains(key) })
            }
            #expect(await unheard.isEmpty)
        },
        Behaviour("removing an event removes the bodies of its deliveries", usesQueue: true) { trial in
            let events = try await trial.append(trial.draft("room", "1"), trial.draft("room", "2"))
            let queue = await trial.queue
            let items = events.map { trial.item($0.timetoken, "wh") }
            try await queue.plan(items, cursor: CursorName("planner"), from: .zero, to: events[1].timetoken)
            trial.clock.advance(by: .seconds(1))
            // Deliveries that were attempted once keep the bytes that were sent.
            for lease in try await queue.lease(9, wait: .seconds(5)) {
                let again = trial.clock.now.adding(.seconds(1))
                #expect(try await queue.finish(lease, trial.outcome(.retry(at: again), body: Array("secret".utf8))))
            }
            _ = try await trial.directory.decide([]) { _ in
                var decision = Decision(())
                decision.removals = [(trial.channel("room"), events[0].timetoken)]
                return decision
            }
            trial.clock.advance(by: .seconds(2))
            let leases = try await queue.lease(9, wait: .seconds(5))
            #expect(leases.map { $0.delivery.event } == events.timetokens)
            #expect(leases.map { $0.body == nil } == [true, false])
        },
        Behaviour("an attempt that ends after its event was removed stores no body", usesQueue: true) { trial in
            let events = try await trial.append(trial.draft("room", "1"), trial.draft("room", "2"))
            let queue = await trial.queue
            let items = events.map { trial.item($0.timetoken, "wh") }
            try await queue.plan(items, cursor: CursorName("planner"), from: .zero, to: events[1].timetoken)
            trial.clock.advance(by: .seconds(1))
            let leases = try await queue.lease(9, wait: .seconds(5))
            #expect(leases.count == 2)
            _ = try await trial.directory.decide([]) { _ in
                var decision = Decision(())
                decision.removals = [(trial.channel("room"), events[0].timetoken)]
                return decision
            }
            for lease in leases {
                let again = trial.clock.now.adding(.seconds(1))
                #expect(try await queue.finish(lease, trial.outcome(.retry(at: again), body: Array("secret".utf8))))
            }
            trial.clock.advance(by: .seconds(2))
            let again = try await queue.lease(9, wait: .seconds(5))
            #expect(again.map { $0.delivery.event } == events.timetokens)
            #expect(again.map { $0.body == nil } == [true, false])
        },
        Behaviour("a decision about events is refused if one of them is gone or on another channel") { trial in
            let events = try await trial.append(trial.draft("room", "1"), trial.draft("room", "2"))
            let key = RecordKey(.user, "ana", in: trial.app)
            let (entry, other) = (trial.channel("room"), trial.channel("b"))
            @Sendable func decide(_ places: [(ChannelID, Timetoken)]) async throws(ChatError) {
                _ = try await trial.directory.decide([]) { _ in
                    var decision = Decision((), changes: [RecordChange(key, body: .emptyObject)])
                    decision.requires = places.map { (channel: $0.0, timetoken: $0.1) }
                    return decision
                }
            }
            await trial.refusal(.notFound) { try await decide([(other, events[0].timetoken)]) }
            _ = try await trial.directory.decide([]) { _ in
                var decision = Decision(())
                decision.removals = [(entry, events[0].timetoken)]
                return decision
            }
            await trial.refusal(.notFound) {
                try await decide([(entry, events[1].timetoken), (entry, events[0].timetoken)])
            }
            #expect(try await trial.directory.read(key) == nil)
            try await decide([(entry, events[1].timetoken)])
            #expect(try await trial.directory.read(key) != nil)
        },
        Behaviour("a decision removes events from the log together with its changes, or not at all") { trial in
            let events = try await trial.append(
                trial.draft("room", "1"), trial.draft("room", "2"), trial.draft("b", "3"))
            let entry = trial.channel("room")
            let key = RecordKey(.user, "ana", in: trial.app)
            let told = trial.draft("room", "4")
            await trial.refusal(.notFound) {
                _ = try await trial.directory.decide([]) { _ in
                    var decision = Decision(
                        (), changes: [RecordChange(key, body: .emptyObject, precondition: .present)])
                    decision.removals = [(entry, events[0].timetoken)]
                    return decision
                }
            }
            #expect(try await trial.history("room").texts == ["1", "2"])
            for _ in 0..<2 {
                _ = try await trial.directory.decide([]) { _ in
                    var decision = Decision((), events: [told])
                    // The last removal belongs to another channel.
                    decision.removals = [(entry, events[0].timetoken), (entry, .zero), (entry, events[2].timetoken)]
                    return decision
                }
            }
            #expect(try await trial.history("room").texts == ["2", "4", "4"])
            #expect(try await trial.history("b").texts == ["3"])
            #expect(try await trial.log.event(at: events[0].timetoken, in: trial.app) == nil)
        },
        Behaviour("a repeat finds its decision's claim and has no further effect") { trial in
            let claim = Claim(
                app: trial.app, key: Array(repeating: 7, count: 32), fingerprint: [1], note: trial.json("1"),
                until: trial.clock.now.adding(.seconds(60)))
            let key = RecordKey(.user, "ana", in: trial.app)
            let drafts = [trial.draft("room", "first"), trial.draft("room", "second")]
            let decide = { () async throws in
                try await trial.directory.decide([key]) { snapshot throws(ChatError) in
                    let count = (snapshot[key].flatMap { Int($0.body.description) } ?? 0) + 1
                    let change = RecordChange(key, body: JSONText { $0.integer(count) })
                    var decision = Decision((), changes: [change], events: drafts)
                    decision.claim = claim
                    return decision
                }
            }
            let events = try await decide().events
            await trial.refusal(.conflict) { _ = try await decide() }
            #expect(try await trial.log.earlier(claim)?.timetokens == events.map(\.timetoken))
            #expect(try await trial.directory.read(key)?.body.description == "1")
            #expect(try await trial.history("room").count == 2)
        },
    ]
}
