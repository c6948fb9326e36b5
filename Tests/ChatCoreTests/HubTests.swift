import ChatCore
import ChatModel
import Locking
import Testing

@Suite("The hub") struct HubTests {
    @Test(
        "passes each event to every feed that selects it, in log order, also events that are no longer in memory",
        arguments: [true, false])
    func fanOut(isInMemory: Bool) async throws {
        try await withScriptedService(isInMemory: isInMemory) { service, log in
            let exact = RecordingSink()
            let below = RecordingSink()
            let all = RecordingSink()
            let other = RecordingSink()
            await service.hub.attach(exact, to: selection(["orders.eu"]))
            await service.hub.attach(below, to: selection(["orders.*"]))
            await service.hub.attach(all, to: selection(["*"]))
            await service.hub.attach(other, to: selection(["orders", "orders.eu.north"]))
            log.commit([event(1), event(2, on: "orders.us"), event(3, on: "chat")])
            log.commit([event(4), event(5, on: "orders.eu.north")])
            #expect(await service.hub.reach(5))
            #expect(exact.timetokens == [1, 4])
            #expect(below.timetokens == [1, 2, 4, 5])
            #expect(all.timetokens == [1, 2, 3, 4, 5])
            #expect(other.timetokens == [5])
        }
    }

    @Test("reports each commit to an observer before a feed receives its events, and its own end")
    func commitObserver() async throws {
        let reports = Lock<[String]>([])
        try await withScriptedService { service, log in
            let sink = RecordingSink()
            await service.hub.attach(sink, to: selection(["*"]))
            await service.hub.observeCommits { commit in
                let report = commit.map { "\($0.events.map(\.timetoken)) after \(sink.timetokens)" } ?? "end"
                reports.withLock { $0.append(report) }
            }
            log.commit([event(1), event(2)])
            #expect(await service.hub.reach(2))
            log.commit([event(3, on: "orders.us")])
            #expect(await service.hub.reach(3))
        }
        #expect(reports.withLock { $0 } == ["[1, 2] after []", "[3] after [1, 2]", "end"])
    }

    @Test("knows the position of each app, when apps take turns in one commit")
    func appPositions() async throws {
        try await withScriptedService { service, log in
            let other = AppID("other")
            log.commit([event(1), event(2, app: other), event(3), event(4), event(5, app: other), event(6)])
            #expect(await service.hub.reach(6))
            #expect(await service.hub.position(of: demo) == 6)
            #expect(await service.hub.position(of: other) == 5)
            log.commit([event(7, app: other)])
            #expect(await service.hub.reach(7))
            #expect(await service.hub.position(of: demo) == 6)
            #expect(await service.hub.position(of: other) == 7)
        }
    }

    @Test("keeps apps, audiences, types and filters apart")
    func matching() async throws {
        try await withScriptedService { service, log in
            let typed = RecordingSink()
            let filtered = RecordingSink()
            await service.hub.attach(typed, to: selection(["*"], types: [.below("order.")]))
            await service.hub.attach(filtered, to: selection(["*"], filter: try Filter("data.n > 1")))
            log.commit([
                event(1, app: AppID("other")), event(2, audience: .webhooks), event(3, type: "chat.said"),
                event(4, data: #"{"n":2}"#), event(5, on: ChannelID.systemName),
            ])
            #expect(await service.hub.reach(5))
            #expect(typed.timetokens == [4])
            #expect(filtered.timetokens == [4])
        }
    }

    @Test("begins no event after its time in a turn, and leaves none out")
    func turnTime() async throws {
        var limits = Limits()
        limits.hubTurn = .zero
        try await withScriptedService(limits: limits) { service, log in
            let sink = RecordingSink()
            await service.hub.attach(sink, to: selection(["*"]))
            log.commit((1...3).map { event($0) })
            #expect(await service.hub.reach(3))
            #expect(sink.timetokens == [1, 2, 3])
            #expect(sink.turnCount == 3)
        }
    }

    @Test("finds a prefix whose dot carries a combining mark, as patterns do")
    func combiningMark() async throws {
        try await withScriptedService { service, log in
            let sink = RecordingSink()
            let below = selection(["a.*"])
            await service.hub.attach(sink, to: below)
            let marked = event(1, on: "a.\u{301}b")
            #expect(below.admits(FilterSubject(marked)))
            log.commit([marked])
            #expect(await service.hub.reach(1))
            #expect(sink.timetokens == [1])
        }
    }

    @Test("passes an event once to a selection with several ways to its channel")
    func severalWays() async throws {
        try await withScriptedService { service, log in
            let sinks = [RecordingSink(), RecordingSink()]
            await service.hub.attach(sinks[0], to: selection(["a.b.c", "a.*", "a.b.*", "*"]))
            await service.hub.attach(sinks[1], to: selection(["a.b.c", "a.*", "a.b.*"]))
            log.commit([event(1, on: "a.b.c")])
            #expect(await service.hub.reach(1))
            #expect(sinks.map(\.timetokens) == [[1], [1]])
        }
    }

    @Test("shares one feed among equal selections and drops it with the last sink")
    func sharing() async throws {
        try await withScriptedService { service, log in
            let sinks = (0..<3).map { _ in RecordingSink() }
            for sink in sinks { await service.hub.attach(sink, to: selection(["b", "a"])) }
            #expect(await service.hub.feedCount == 1)
            await service.hub.detach(sinks[0])
            log.commit([event(1, on: "a")])
            #expect(await service.hub.reach(1))
            #expect(sinks.map(\.timetokens) == [[], [1], [1]])
            for sink in sinks { await service.hub.detach(sink) }
            #expect(await service.hub.feedCount == 0)
        }
    }

    @Test("gives each sink of a feed its events once, also in the place of a sink that has left")
    func places() async throws {
        try await withScriptedService { service, log in
            let sinks = (0..<4).map { _ in RecordingSink() }
            for sink in sinks[..<3] { await service.hub.attach(sink, to: selection(["a"])) }
            await service.hub.detach(sinks[1])
            await service.hub.detach(sinks[1])
            await service.hub.attach(sinks[3], to: selection(["a"]))
            await service.hub.detach(sinks[0])
            log.commit([event(1, on: "a")])
            #expect(await service.hub.reach(1))
            #expect(sinks.map(\.timetokens) == [[], [], [1], [1]])
            for sink in sinks { await service.hub.detach(sink) }
            #expect(await service.hub.feedCount == 0)
        }
    }

    @Test("passes on no event at or below its start position")
    func start() async throws {
        try await withScriptedService(stored: [event(10)]) { service, log in
            #expect(await service.hub.position == 10)
            let sink = RecordingSink()
            await service.hub.attach(sink, to: selection(["*"]))
            // A commit from before the start, which may arrive after it.
            log.tell([event(9), event(10)])
            log.commit([event(11)])
            #expect(await service.hub.reach(11))
            #expect(sink.timetokens == [11])
        }
    }

    @Test("passes a large commit on in several turns, moving its position with each", arguments: [true, false])
    func largeCommit(isInMemory: Bool) async throws {
        try await withScriptedService(isInMemory: isInMemory) { service, log in
            let sink = RecordingSink()
            await service.hub.attach(sink, to: selection(["*"]))
            log.commit((1...1000).map { event($0) })
            #expect(await service.hub.reach(1000))
            #expect(sink.timetokens == Array(1...1000))
            #expect(sink.turnCount == 4)
            // The hub then distributes small commits again.
            log.commit([event(1001)])
            #expect(await service.hub.reach(1001))
            #expect(sink.timetokens.last == 1001)
        }
    }

    @Test("distributes a small commit without its task, and a commit that arrives meanwhile")
    func withoutTask() async throws {
        try await withScriptedService { service, log in
            let sink = RecordingSink()
            await service.hub.attach(sink, to: selection(["*"]))
            await service.hub.observeCommits { commit in
                // Runs on the executor, while the hub distributes the commit.
                if commit?.watermark == 1 { log.commit([event(2)]) }
            }
            for timetoken in [1, 3, 4] as [UInt64] {
                log.commit([event(timetoken)])
                #expect(await service.hub.reach(Timetoken(max(timetoken, 2))))
            }
            #expect(sink.timetokens == [1, 2, 3, 4])
        }
    }

    @Test("passes on large events a few at a time")
    func heavyCommit() async throws {
        try await withScriptedService { service, log in
            let sink = RecordingSink()
            await service.hub.attach(sink, to: selection(["*"]))
            let heavy = "\"" + String(repeating: "x", count: 60_000) + "\""
            log.commit((1...20).map { event($0, data: heavy) })
            #expect(await service.hub.reach(20))
            #expect(sink.timetokens == Array(1...20))
            #expect(sink.turnCount == 4)
        }
    }

    @Test("moves its position with commits that no feed selects")
    func emptyCommit() async throws {
        try await withScriptedService { service, log in
            log.tell([], watermark: 7)
            #expect(await service.hub.reach(7))
            #expect(await service.hub.position == 7)
        }
    }

    @Test("releases waiters for a position when it stops", arguments: [true, false])
    func stop(isInMemory: Bool) async throws {
        try await withScriptedService(isInMemory: isInMemory) { service, log in
            async let reached = service.hub.reach(100)
            log.end()
            #expect(await !reached)
            #expect(await !service.hub.isRunning)
            #expect(await !service.hub.reach(0))
        }
    }

    @Test("reports the receivers that an event would have")
    func dryRun() async throws {
        try await withScriptedService { service, _ in
            let sink = RecordingSink()
            await service.hub.attach(sink, to: selection(["orders.*", "orders.eu"]))
            #expect(await service.hub.sinks(receiving: event(1)).count == 1)
            #expect(await service.hub.sinks(receiving: event(1, on: "chat")).isEmpty)
            #expect(await service.hub.sinks(receiving: event(1, audience: .webhooks)).isEmpty)
            #expect(sink.timetokens.isEmpty)
        }
    }
}
