import ChatModel
import JSON
import Locking
import TestSupport
import Testing

extension Behaviour {
    static let reading: [Behaviour] = [
        Behaviour("commits arrive once each, in order, from the call on, and match the events that are read") { trial in
            try await trial.append(trial.draft("room", "before"))
            let nodes = await trial.subject.nodes
            var sequences: [CommitSequence] = []
            for node in nodes { sequences.append(await node.log.committed()) }
            let start = try await trial.log.watermark(of: trial.app)
            try await concurrently(4) { task in
                for number in 0..<100 {
                    let draft = trial.draft("room.\(task)", retention: number % 2 == 0 ? .kept : .passing)
                    _ = try await nodes[task % nodes.count].log.append([draft], claim: nil)
                }
            }
            let events = try await trial.readAll(trial.everything, after: start)
            #expect(events.count == 400)
            for sequence in sequences {
                var told: [Event] = []
                var watermark = start
                for await commit in sequence {
                    #expect(commit.watermark > watermark)
                    #expect(commit.events.allSatisfy { $0.timetoken > watermark && $0.timetoken <= commit.watermark })
                    watermark = commit.watermark
                    told += commit.events
                    if told.count >= 400 { break }
                }
                #expect(told.timetokens == events.timetokens)
            }
        },
        Behaviour("a consumer that is 100,000 commits behind receives all of them") { trial in
            let sequence = await trial.log.committed()
            let drafts = (0..<500).map { trial.draft("room.\($0 % 10)", retention: $0 % 50 == 0 ? .passing : .kept) }
            for _ in 0..<200 { _ = try await trial.log.append(drafts, claim: nil) }
            var count = 0
            var last = Timetoken.zero
            for await commit in sequence {
                for event in commit.events {
                    #expect(event.timetoken > last)
                    last = event.timetoken
                }
                count += commit.events.count
                if count >= 100_000 { break }
            }
            #expect(count == 100_000)
        },
        Behaviour("commits wake a waiting consumer, and end when the engine closes") { trial in
            let sequence = await trial.log.committed()
            let consumer = Task {
                var texts: [String] = []
                for await commit in sequence { texts += commit.events.texts }
                return texts
            }
            try await trial.append(trial.draft("room", "1"))
            try await trial.append(trial.draft("room", "2"))
            await trial.node.close()
            #expect(await consumer.value == ["1", "2"])
        },
        Behaviour("a cancelled consumer of commits ends") { trial in
            let sequence = await trial.log.committed()
            let consumer = Task { for await _ in sequence {} }
            consumer.cancel()
            await consumer.value
        },
        Behaviour("history is read in both directions within exclusive bounds, and reports whether there is more") {
            trial in
            let events = try await trial.append(contentsOf: (0..<10).map { trial.draft("room", "\($0)") })
            try await trial.append(trial.draft("elsewhere"))
            let tokens = events.timetokens
            #expect(try await trial.history("room").timetokens == tokens)
            #expect(try await trial.history("room", .newestFirst).timetokens == tokens.reversed())
            let inner = try await trial.history("room", after: tokens[2], before: tokens[5])
            #expect(inner.timetokens == Array(tokens[3...4]))
            let back = try await trial.history("room", after: tokens[2], before: tokens[5], .newestFirst)
            #expect(back.timetokens == [tokens[4], tokens[3]])
            #expect(try await trial.history("room", after: tokens[4], before: tokens[5]).isEmpty)
            #expect(try await trial.history("empty").isEmpty)
            for (limit, order, expected, hasMore) in [
                (1, HistoryRequest.Order.oldestFirst, ["0"], true), (1, .newestFirst, ["9"], true),
                (10, .oldestFirst, (0..<10).map(String.init), false),
                (99, .newestFirst, (0..<10).reversed().map(String.init), false),
            ] {
                let request = HistoryRequest(channel: trial.channel("room"), order: order, limit: limit)
                let page = try await trial.log.history([request])[0]
                #expect(page.items.texts == expected)
                #expect(page.hasMore == hasMore)
                #expect(page.position == page.items.last?.timetoken)
            }
        },
        Behaviour(
            "kept events of names, prefixes and the whole app are read in both directions, once each, imported ones too"
        ) {
            trial in
            for number in 0..<60 {
                let retention: Retention = number % 7 == 0 ? .passing : .kept
                try await trial.append(trial.draft("room.\(number % 6)", "\(number)", retention: retention))
            }
            let moved = trial.clock.now.adding(.seconds(-60))
            _ = try await trial.log.append([trial.moved("moved", to: moved, in: "room.1")], claim: nil)
            for channels in [
                trial.names("room.1", "room.2"), ChannelSet(app: trial.app, prefixes: ["room."]), trial.everything,
            ] {
                var expected: [Event] = []
                for number in 0..<6 where channels.contains(trial.channel("room.\(number)")) {
                    expected += try await trial.history("room.\(number)")
                }
                expected.sort { $0.timetoken < $1.timetoken }
                #expect(expected.texts.contains("moved") && !expected.texts.contains("7"))
                let (after, before) = (expected[2].timetoken, expected[expected.count - 2].timetoken)
                for order in [HistoryRequest.Order.oldestFirst, .newestFirst] {
                    for (stretch, range) in [
                        (LogRange(order: order), 0..<expected.count),
                        (LogRange(after: after, before: before, order: order), 3..<expected.count - 2),
                    ] {
                        var stretch = stretch
                        var found: [Event] = []
                        while true {
                            let page = try await trial.log.kept(in: channels, stretch, limit: 7)
                            found += page.items
                            guard page.hasMore else { break }
                            stretch = stretch.rest(behind: page.position)
                        }
                        let wanted = order == .oldestFirst ? Array(expected[range]) : expected[range].reversed()
                        #expect(found.timetokens == wanted.timetokens)
                    }
                }
            }
            let none = try await trial.log.kept(in: trial.names("nowhere"), LogRange(order: .newestFirst), limit: 5)
            #expect(none.items.isEmpty && !none.hasMore)
        },
        Behaviour("one call returns the history of 100 channels; an unknown channel has an empty page") { trial in
            for number in 0..<100 where number != 42 {
                try await trial.append(trial.draft("room.\(number)", "\(number)"))
            }
            let pages = try await trial.log.history(
                (0..<100).map { HistoryRequest(channel: trial.channel("room.\($0)"), limit: 5) })
            #expect(pages.map { $0.items.texts } == (0..<100).map { $0 == 42 ? [] : ["\($0)"] })
            #expect(try await trial.log.history([]).isEmpty)
        },
        Behaviour("history and counts agree for all bounds and filters") { trial in
            for number in 0..<60 {
                var draft = trial.draft(
                    "room", "\(number)", type: ["order.paid", "order.sent", "chat"][number % 3],
                    kind: number % 2 == 0 ? .message : .file)
                draft.user = number % 5 == 0 ? "ana" : "bob"
                if number % 7 == 0 { draft.expires = trial.clock.now.adding(.seconds(10)) }
                try await trial.append(draft)
            }
            trial.clock.advance(by: .seconds(20))
            let tokens = try await trial.history("room").timetokens
            #expect(tokens.count == 51, "nine have expired")
            var requests: [HistoryRequest] = []
            for (kinds, types, user) in [
                ([], [], nil), ([.message], [], nil), ([], [.below("order.")], nil), ([.file], [.exact("chat")], "ana"),
                ([.message, .file], [.all], "bob"), ([.presence], [], nil),
            ] as [(Set<EventKind>, [NamePattern], String?)] {
                for after in [Timetoken.zero, tokens[10]] {
                    var request = HistoryRequest(
                        channel: trial.channel("room"), after: after, before: tokens[45], limit: 1000)
                    request.kinds = kinds
                    request.types = types
                    request.user = user
                    requests.append(request)
                }
            }
            let pages = try await trial.log.history(requests)
            #expect(try await trial.log.counts(requests) == pages.map(\.items.count))
            for index in requests.indices { requests[index].countMost = 7 }
            #expect(try await trial.log.counts(requests) == pages.map { min($0.items.count, 7) })
            #expect(pages[0].items.count == 45 && pages[10].items.isEmpty)
            #expect(pages[4].items.allSatisfy { $0.type.hasPrefix("order.") } && !pages[4].items.isEmpty)
            #expect(pages[6].items.allSatisfy { $0.user == "ana" && $0.kind == .file && $0.type == "chat" })
            #expect(try await trial.log.counts([HistoryRequest(channel: trial.channel("none"), limit: 0)]) == [0])
        },
        Behaviour("one cursor over names, prefixes and everything finds each event once, at any distance") { trial in
            // More than an engine holds in memory, with the matching events far apart.
            for round in 0..<40 {
                try await trial.append(trial.draft("quiet.\(round % 2)", "\(round)"))
                _ = try await trial.log.append((0..<100).map { trial.draft("busy.\($0)", "[]") }, claim: nil)
            }
            try await trial.append(trial.draft(ChannelID.systemName, "system"), trial.draft("quiet", "near"))
            let wanted = (0..<40).map(String.init)
            let below = ChannelSet(app: trial.app, prefixes: ["quiet."])
            for limit in [1, 7, 250] {
                #expect(try await trial.readAll(below, limit: limit).texts == wanted)
                #expect(try await trial.readAll(trial.names("quiet.0", "quiet.1"), limit: limit).texts == wanted)
            }
            #expect(try await trial.readAll(trial.everything).count == 4041, "all of them but the system's")
            #expect(try await trial.readAll(trial.names(ChannelID.systemName)).texts == ["system"])
            #expect(try await trial.readAll(trial.names("nobody")).isEmpty)
            #expect(try await trial.readAll(ChannelSet(app: AppID("other"), isAll: true)).isEmpty)
        },
        Behaviour("an expired event is unreadable from that moment on, on every node") { trial in
            var gone = trial.draft("room", "gone")
            gone.expires = trial.clock.now
            var soon = trial.draft("room", "soon")
            soon.expires = trial.clock.now.adding(.seconds(30))
            let appended = try await trial.append(gone, soon, trial.draft("room", "stays"))
            #expect(try await trial.readAll(trial.names("room")).texts == ["soon", "stays"])
            trial.clock.advance(by: .seconds(31))
            for node in await trial.subject.nodes {
                #expect(try await trial.readAll(trial.names("room"), from: node.log).texts == ["stays"])
                #expect(try await node.log.event(at: appended[1].timetoken, in: trial.app) == nil)
                let request = HistoryRequest(channel: trial.channel("room"), limit: 9)
                #expect(try await node.log.history([request])[0].items.texts == ["stays"])
                #expect(try await node.log.counts([request]) == [1])
            }
        },
        Behaviour("deleted events are gone on all nodes, exactly those between the bounds, and the count is returned") {
            trial in
            let tokens = try await trial.append(contentsOf: (0..<5000).map { trial.draft("room", "\($0)") }).timetokens
            try await trial.append(trial.draft("elsewhere", "safe"))
            let count = try await trial.log.delete(after: tokens[9], before: tokens[4990], in: trial.channel("room"))
            #expect(count == 4980)
            let left = Array(tokens[...9] + tokens[4990...])
            for node in await trial.subject.nodes {
                #expect(try await trial.readAll(trial.names("room"), from: node.log).timetokens == left)
                #expect(try await node.log.event(at: tokens[100], in: trial.app) == nil)
            }
            #expect(try await trial.history("room").timetokens == left)
            #expect(try await trial.history("elsewhere").texts == ["safe"])
            #expect(try await trial.log.delete(after: tokens[9], before: tokens[4990], in: trial.channel("room")) == 0)
            let next = try await trial.append(trial.draft("room", "new"))[0]
            #expect(next.timetoken > tokens[4999], "timetokens never return")
            let all = try await trial.log.delete(after: .zero, before: .distantFuture, in: trial.channel("room"))
            #expect(all == 21)
        },
        Behaviour(
            "a blocked store refuses writes at once beyond the bound, keeps the rest, and recovers by itself",
            limits: {
                var limits = Limits()
                limits.waitingDrafts = 100
                return limits
            }()
        ) { trial in
            guard try await trial.subject.block() else { return }
            let refused = Lock(0)
            let log = await trial.log
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        do throws(ChatError) {
                            _ = try await log.append([trial.draft("room", "\(number)")], claim: nil)
                        } catch {
                            #expect(error.code == .overloaded && error.retryAfter != nil)
                            refused.withLock { $0 += 1 }
                        }
                    }
                }
                // The rejected requests are answered while the store is blocked; the others wait for it.
                await waitUntil { refused.withLock { $0 } >= 1000 - 200 }
                try await trial.subject.unblock()
                try await group.waitForAll()
            }
            let stored = 1000 - refused.withLock { $0 }
            #expect(stored > 0 && stored <= 200)
            #expect(try await trial.history("room").count == stored)
            try await trial.append(trial.draft("room", "works again"))
            #expect(await trial.node.health() == .ready)
        },
    ]
}

extension Trial {
    @discardableResult
    func append(contentsOf drafts: [EventDraft]) async throws -> [Event] {
        try await log.append(drafts, claim: nil).events.map(\.event)
    }
}
