import ChatModel
import JSON
import TestSupport
import Testing

extension Behaviour {
    static let log: [Behaviour] = [
        Behaviour("the watermark of an app moves with its own events only") { trial in
            let log = await trial.log
            let other = AppID("other")
            var foreign = trial.draft("room", "1")
            foreign.channel = ChannelID("room", in: other)
            let before = try await log.watermark(of: trial.app)
            let places = try await log.append([foreign], claim: nil).events.map(\.event.timetoken)
            #expect(try await log.watermark(of: trial.app) == before)
            #expect(try await log.watermark(of: other) == places[0])
            let own = try await trial.append(trial.draft("room", "2"), trial.draft("hall", "3", retention: .passing))
            #expect(try await log.watermark(of: trial.app) == own[1].timetoken)
            #expect(try await log.watermark(of: other) == places[0])
            #expect(try await log.watermark(of: .gateway) >= own[1].timetoken)
        },
        Behaviour("an empty log's watermark is a time before its first event, and not zero") { trial in
            let log = await trial.log
            let before = try await log.watermark(of: trial.app)
            #expect(before.description.utf8.count == 17)
            #expect(try await trial.append(trial.draft("room", "1"))[0].timetoken > before)
        },
        Behaviour("an append returns a 17-digit timetoken, and reading back gives the same event") { trial in
            var draft = trial.draft("room", #"{"a" : 1.50e1}"#, type: "order.paid", kind: .message)
            draft.user = "ana"
            draft.meta = trial.json(#"{"lang":"en"}"#)
            draft.customType = "label"
            draft.schema = SchemaReference(type: "order.paid", version: 3)
            draft.cause = "req-1"
            draft.audience = .rule(.mentioned, subjects: ["ana", "ben"])
            draft.originDevice = "phone"
            draft.trace = TraceContext(
                traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", state: "vendor=1")
            draft.wire = trial.json(#""wire""#)
            draft.expires = trial.clock.now.adding(.seconds(60))
            let event = try await trial.append(draft)[0]
            #expect(event.timetoken.description.utf8.count == 17)
            let request = HistoryRequest(channel: draft.channel, limit: 10)
            for found in [
                try await trial.readAll(trial.names("room")).first,
                try await trial.log.history([request])[0].items.first,
                try await trial.log.event(at: event.timetoken, in: trial.app),
            ] {
                let found = try #require(found)
                #expect(found.timetoken == event.timetoken)
                #expect(found.data == draft.data && found.meta == draft.meta && found.draft.wire == draft.wire)
                #expect(found.type == "order.paid" && found.kind == .message && found.user == "ana")
                #expect(found.customType == "label" && found.draft.schema == draft.schema)
                #expect(found.draft.cause == "req-1" && found.audience == .rule(.mentioned, subjects: ["ana", "ben"]))
                #expect(found.draft.originDevice == "phone" && found.draft.expires == draft.expires)
                #expect(found.draft.trace?.stored == draft.trace?.stored && draft.trace != nil)
                #expect(found.channel == draft.channel && found.retention == .kept)
            }
            #expect(try await trial.log.event(at: event.timetoken, in: AppID("other")) == nil)
        },
        Behaviour("a thread's events are read and counted with it, and left out of reads beside it") { trial in
            let roots = try await trial.append(
                trial.draft("room", "1", kind: .message), trial.draft("room", "2", kind: .message))
            var expected: [Timetoken] = []
            for number in 0..<6 {
                var draft = trial.draft("room", "\(number)", kind: number == 5 ? .action : .message)
                draft.thread = roots[number % 2].timetoken
                let event = try await trial.append(draft)[0]
                if number % 2 == 0 { expected.append(event.timetoken) }
            }
            var request = HistoryRequest(channel: roots[0].channel, limit: 10)
            func read() async throws -> [Timetoken] { try await trial.log.history([request])[0].items.map(\.timetoken) }
            request.thread = .of(roots[0].timetoken)
            #expect(try await read() == expected)
            request.order = .newestFirst
            request.limit = 2
            #expect(try await read() == Array(expected.reversed().prefix(2)))
            request.before = expected[1]
            #expect(try await read() == [expected[0]])
            request = HistoryRequest(channel: roots[0].channel, limit: 10)
            request.thread = .none
            #expect(try await read() == roots.map(\.timetoken))
            let cases: [(HistoryRequest.Thread, Set<EventKind>, Int)] = [
                (.none, [], 2), (.none, [.message], 2), (.none, [.action], 0),
                (.any, [.message], 7), (.any, [], 8), (.of(roots[1].timetoken), [], 3),
                (.of(roots[1].timetoken), [.message], 2), (.of(1), [], 0),
            ]
            for (thread, kinds, count) in cases {
                (request.thread, request.kinds) = (thread, kinds)
                #expect(try await trial.log.counts([request]) == [count], "\(thread) \(kinds)")
            }
            (request.thread, request.kinds, request.countMost) = (.none, [.message], 1)
            #expect(try await trial.log.counts([request]) == [1])
            (request.thread, request.kinds, request.countMost) = (.any, [.file], .max)
            #expect(try await trial.log.counts([request]) == [0])
            let all = HistoryRequest(channel: request.channel, limit: 10)
            request.typesOfAnyKind = Set(try await trial.log.history([all])[0].items.map(\.type))
            #expect(try await trial.log.counts([request]) == [8])
            #expect(try await trial.log.history([request])[0].items.count == 8)
        },
        Behaviour("an event is found by its echoes in memory, once, and only where these are requested") { trial in
            var draft = trial.draft("ana", "1")
            draft.echoes = ["room", "hall"]
            let event = try await trial.append(draft)[0]
            var channels = trial.names("room", "hall")
            #expect(try await trial.readAll(channels).isEmpty)
            channels.receivesEchoes = true
            #expect(try await trial.readAll(channels).map(\.timetoken) == [event.timetoken])
            // Behind more events than are examined one by one.
            for _ in 0..<14 { try await trial.append(contentsOf: (0..<10).map { trial.draft("else", "\($0)") }) }
            #expect(try await trial.readAll(channels).map(\.timetoken) == [event.timetoken])
            channels.names.insert(ExactText("ana"))
            #expect(try await trial.readAll(channels).map(\.timetoken) == [event.timetoken])
        },
        Behaviour("an event keeps its audience") { trial in
            let audiences: [Audience] = [.subscribers, .insiders, .webhooks, .wire, .rule(.user, subjects: ["ana"])]
            for audience in audiences {
                var draft = trial.draft("room", "1", type: "t", kind: .message)
                draft.audience = audience
                try await trial.append(draft)
            }
            let request = HistoryRequest(
                channel: trial.draft("room", "1", type: "t", kind: .message).channel, limit: 10)
            #expect(try await trial.log.history([request])[0].items.map(\.audience) == audiences)
        },
        Behaviour("10,000 appends of 8 tasks to one channel are read in strictly increasing order, each once") {
            trial in
            let nodes = await trial.subject.nodes
            try await concurrently(8) { task in
                for number in 0..<1250 {
                    _ = try await nodes[task % nodes.count].log.append(
                        [trial.draft("room", "[\(task),\(number)]")], claim: nil)
                }
            }
            let events = try await trial.readAll(trial.names("room"))
            #expect(events.count == 10_000)
            #expect(events.isStrictlyIncreasing)
            #expect(Set(events.texts).count == 10_000)
            let kept = try await trial.history("room", limit: 20_000)
            #expect(kept.timetokens == events.timetokens)
        },
        Behaviour("a batch keeps the order of its drafts") { trial in
            let drafts = (0..<100).map { trial.draft("room.\($0 % 3)", "\($0)") }
            let appended = try await trial.log.append(drafts, claim: nil).events.map(\.event)
            #expect(appended.isStrictlyIncreasing)
            #expect(appended.texts == (0..<100).map(String.init))
            #expect(try await trial.readAll(trial.everything).texts == appended.texts)
        },
        Behaviour("an append returns only when the watermark covers it, on every node") { trial in
            for retention in [Retention.kept, .passing] {
                for _ in 0..<50 {
                    let event = try await trial.append(trial.draft(retention: retention))[0]
                    for node in await trial.subject.nodes {
                        #expect(try await node.log.watermark(of: trial.app) >= event.timetoken)
                        let position = Timetoken(event.timetoken.rawValue - 1)
                        let page = try await node.log.events(in: trial.names("room"), after: position, limit: 1)
                        #expect(page.items.first?.timetoken == event.timetoken)
                    }
                }
            }
        },
        Behaviour("no event appears at or below a watermark that was returned, over 50 channels") { trial in
            let log = await trial.otherNode.log
            let reader = Task {
                var seen: [Timetoken] = []
                var position = Timetoken.zero
                while !Task.isCancelled {
                    let watermark = try await log.watermark(of: trial.app)
                    while position < watermark {
                        let page = try await log.events(in: trial.everything, after: position, limit: 64)
                        seen += page.items.timetokens
                        position = page.position
                    }
                    await Task.yield()
                }
                return (seen, position)
            }
            let nodes = await trial.subject.nodes
            try await concurrently(8) { task in
                for number in 0..<250 {
                    let retention = number % 5 == 0 ? Retention.passing : .kept
                    _ = try await nodes[task % nodes.count].log.append(
                        [trial.draft("room.\((task * 250 + number) % 50)", retention: retention)], claim: nil)
                }
            }
            reader.cancel()
            let (seen, position) = try await reader.value
            let rest = try await trial.readAll(trial.everything, after: position)
            let all = try await trial.readAll(trial.everything)
            #expect(all.count == 2000 && all.isStrictlyIncreasing)
            #expect(seen + rest.timetokens == all.timetokens, "each page continues exactly where the last one ended")
        },
        Behaviour("a repeated key returns the first event, whatever the payload, and stores nothing") { trial in
            let first = try await trial.append(trial.draft("room", "1", key: "k"))[0]
            let again = try await trial.log.append(
                [trial.draft("room", "2", key: "k"), trial.draft("room", "3")], claim: nil)
            #expect(again.events.map(\.isDuplicate) == [true, false])
            #expect(again.events[0].event.timetoken == first.timetoken)
            #expect(again.events[0].event.data.description == "1")
            #expect(try await trial.history("room").texts == ["1", "3"])
            let other = try await trial.log.append([trial.draft("room.2", "4", key: "k")], claim: nil)
            #expect(!other.events[0].isDuplicate, "a key belongs to its channel")
            let twice = try await trial.log.append(
                [trial.draft("room", "5", key: "n"), trial.draft("room", "6", key: "n")], claim: nil)
            #expect(twice.events.map(\.isDuplicate) == [false, true])
            #expect(twice.events[1].event.data.description == "5")
        },
        Behaviour("concurrent appends with one key store one event, and all return its timetoken") { trial in
            let nodes = await trial.subject.nodes
            for retention in [Retention.kept, .passing] {
                let outcomes = try await withThrowingTaskGroup(of: Appended.self) { group in
                    for number in 0..<32 {
                        group.addTask {
                            let draft = trial.draft("room", "\(number)", retention: retention, key: "once \(retention)")
                            return try await nodes[number % nodes.count].log.append([draft], claim: nil).events[0]
                        }
                    }
                    var outcomes: [Appended] = []
                    for try await outcome in group { outcomes.append(outcome) }
                    return outcomes
                }
                #expect(outcomes.count { !$0.isDuplicate } == 1)
                #expect(Set(outcomes.map(\.event.timetoken)).count == 1)
                #expect(Set(outcomes.map(\.event.data)).count == 1)
            }
            #expect(try await trial.readAll(trial.names("room")).count == 2)
        },
        Behaviour("a repeated claim returns the first result, across channels; another fingerprint is a conflict") {
            trial in
            func claim(_ fingerprint: UInt8) -> Claim {
                Claim(
                    app: trial.app, key: [1, 2, 3], fingerprint: [fingerprint], note: trial.json(#"{"n":1}"#),
                    until: trial.clock.now.adding(.seconds(3600)))
            }
            let first = try await trial.log.append([trial.draft("a"), trial.draft("b")], claim: claim(1))
            #expect(first.repeatedNote == nil)
            let again = try await trial.log.append([trial.draft("a"), trial.draft("b")], claim: claim(1))
            #expect(again.events.map(\.event.timetoken) == first.events.map(\.event.timetoken))
            #expect(again.events.allSatisfy { $0.isDuplicate })
            #expect(again.repeatedNote == trial.json(#"{"n":1}"#))
            await trial.refusal(.conflict) { _ = try await trial.log.append([trial.draft("c")], claim: claim(2)) }
            #expect(try await trial.readAll(trial.everything).count == 2)
            var elsewhere = claim(2)
            elsewhere.app = AppID("another app")
            let other = try await trial.log.append([trial.draft("c")], claim: elsewhere)
            #expect(other.repeatedNote == nil, "a claim belongs to its space")
            trial.clock.advance(by: .seconds(3601))
            #expect(try await trial.log.append([trial.draft("a")], claim: claim(3)).repeatedNote == nil)
        },
        Behaviour("a claim's earlier append can be looked up without appending, with removed events marked") { trial in
            func claim(_ fingerprint: UInt8) -> Claim {
                Claim(
                    app: trial.app, key: [1, 2, 3], fingerprint: [fingerprint], note: trial.json(#"{"n":1}"#),
                    until: trial.clock.now.adding(.seconds(3600)))
            }
            let none = try await trial.log.earlier(claim(1))
            #expect(none == nil)
            let first = try await trial.log.append([trial.draft("a"), trial.draft("b")], claim: claim(1))
            let places = first.events.map(\.event.timetoken)
            _ = try await trial.log.delete(
                after: .zero, before: Timetoken(places[0].rawValue + 1), in: ChannelID("a", in: trial.app))
            let earlier = try #require(try await trial.log.earlier(claim(1)))
            #expect(earlier.timetokens == places)
            #expect(earlier.events.map { $0?.timetoken } == [nil, places[1]])
            #expect(earlier.note == trial.json(#"{"n":1}"#))
            await trial.refusal(.conflict) { _ = try await trial.log.earlier(claim(2)) }
            #expect(try await trial.readAll(trial.everything).count == 1)
        },
        Behaviour("keys and claims are kept over a restart and freed after their window", needsRestart: true) {
            trial in
            let claim = Claim(
                app: trial.app, key: [7], fingerprint: [7], note: .null, until: trial.clock.now.adding(.seconds(9)))
            let first = try await trial.append(trial.draft("room", "1", key: "k"))[0]
            let claimed = try await trial.log.append([trial.draft("room", "2")], claim: claim).events[0].event
            try await trial.subject.restart()
            let again = try await trial.log.append([trial.draft("room", "x", key: "k")], claim: nil).events[0]
            #expect(again.isDuplicate && again.event.timetoken == first.timetoken)
            #expect(again.event.data.description == "1")
            let repeated = try await trial.log.append([trial.draft("room", "y")], claim: claim)
            #expect(repeated.events[0].event.timetoken == claimed.timetoken)
            trial.clock.advance(by: .seconds(24 * 3600 + 1))
            #expect(
                try await trial.log.append([trial.draft("room", "z", key: "k")], claim: nil).events[0].isDuplicate
                    == false)
        },
        Behaviour("drafts of one call are stored all or none") { trial in
            var bad = trial.draft("room", "2")
            bad.past = trial.clock.now.adding(.seconds(3600))
            for good in [trial.draft(), trial.draft("room", key: "fresh")] {
                await trial.refusal(.invalid) { _ = try await trial.log.append([good, bad], claim: nil) }
            }
            let stored = try await trial.readAll(trial.everything)
            #expect(stored.isEmpty)
            let fresh = try await trial.log.append([trial.draft("room", key: "fresh")], claim: nil).events[0]
            #expect(!fresh.isDuplicate)
        },
        Behaviour("timetokens grow while the clock stands, goes back and jumps") { trial in
            var events: [Event] = []
            for step in [Duration.zero, .seconds(-3600), .seconds(7200), .seconds(-7200), .seconds(3600)] {
                trial.clock.step(by: step)
                for retention in [Retention.kept, .passing] {
                    events += try await trial.append(trial.draft("room", retention: retention))
                }
            }
            #expect(events.isStrictlyIncreasing)
            #expect(try await trial.readAll(trial.names("room")).timetokens == events.timetokens)
        },
        Behaviour("timetokens grow over a restart with the clock stepped back", needsRestart: true) { trial in
            var last = Timetoken.zero
            for retention in [Retention.kept, .passing, .kept] {
                last = try await trial.append(trial.draft("room", retention: retention))[0].timetoken
                trial.clock.step(by: .seconds(-3600))
                try await trial.subject.restart()
                let watermark = try await trial.log.watermark(of: trial.app)
                #expect(watermark >= last, "a cursor taken before the restart is in the past")
                let next = try await trial.append(trial.draft())[0].timetoken
                #expect(next > last && next > watermark)
            }
        },
        Behaviour("ephemeral events are in order among kept ones, and never in history") { trial in
            var events: [Event] = []
            for number in 0..<20 {
                events += try await trial.append(
                    trial.draft("room", "\(number)", retention: number % 2 == 0 ? .kept : .passing))
            }
            let read = try await trial.readAll(trial.names("room"), limit: 3)
            #expect(read.timetokens == events.timetokens)
            #expect(read.map(\.retention) == events.map(\.retention))
            #expect(try await trial.history("room").count == 10)
            #expect(try await trial.log.event(at: events[1].timetoken, in: trial.app)?.data.description == "1")
        },
        Behaviour("an ephemeral event is readable on another node for a minute, in order with kept ones") { trial in
            try await trial.append(trial.draft("room", "1"), trial.draft("room", "2", retention: .passing))
            trial.clock.advance(by: .seconds(60))
            try await trial.append(trial.draft("room", "3"))
            let log = await trial.otherNode.log
            #expect(try await trial.readAll(trial.names("room"), from: log).texts == ["1", "2", "3"])
        },
        Behaviour("after a restart an ephemeral event may be gone, but the order holds", needsRestart: true) { trial in
            let before = try await trial.append(
                trial.draft("room", "1"), trial.draft("room", "2", retention: .passing), trial.draft("room", "3"))
            try await trial.subject.restart()
            let after = try await trial.append(trial.draft("room", "4"))
            let read = try await trial.readAll(trial.names("room"))
            #expect(read.isStrictlyIncreasing)
            #expect(read.filter { $0.retention == .kept }.timetokens == [before[0], before[2], after[0]].timetokens)
        },
        Behaviour("payloads are returned byte for byte") { trial in
            let payloads = [
                "\"" + String(repeating: "x", count: 32 * 1024 - 2) + "\"", #"{"nul":"\u0000"}"#,
                "[1e400, -0, 100.10, 123456789012345678901234567890]", "\"😀 \u{10FFFF} é\"", #" {"a" :1 }"#, "null",
            ]
            for payload in payloads { try await trial.append(trial.draft("room", payload)) }
            #expect(try await trial.history("room").texts == payloads)
            #expect(try await trial.readAll(trial.names("room")).texts == payloads)
        },
    ]
}
