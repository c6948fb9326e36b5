import ChatModel
import JSON
import Locking
import Logging
import NATSSupport
import Postgres
import PostgresSupport
import StorageCore
import Testing
import TestSupport

@testable import ClusterEngine

private let app = AppID("app")
private let everything = ChannelSet(app: app, isAll: true)

extension EventDraft {
    fileprivate init(_ text: String, in channel: String = "room") {
        self.init(channel: ChannelID(channel, in: app), type: "t", data: JSONText(string: text))
    }
}

/// The outcomes that callers received for the events that they appended, by the text of the event.
private final class Ledger: Sendable {
    private struct State: Sendable {
        var stored: [String: Timetoken] = [:]
        var unknown: Set<String> = []
        var refused: Set<String> = []
    }

    private let state = Lock(State())

    var storedCount: Int { state.withLock { $0.stored.count } }
    var refusedCount: Int { state.withLock { $0.refused.count } }

    /// Appends an event and records the outcome.
    func append(_ text: String, to log: any EventLog) async {
        do throws(ChatError) {
            let event = try await log.append([EventDraft(text)], claim: nil).events[0].event
            state.withLock { $0.stored[text] = event.timetoken }
        } catch {
            #expect([.unavailable, .outcomeUnknown, .overloaded].contains(error.code), "\(error)")
            state.withLock { state in
                _ = if error.code == .outcomeUnknown { state.unknown.insert(text) } else { state.refused.insert(text) }
            }
        }
    }

    /// Compares the log with the outcomes: every stored event is there once, with its timetoken; no refused event is.
    func audit(_ log: any EventLog) async throws {
        var found: [Event] = []
        var request = HistoryRequest(channel: ChannelID("room", in: app), limit: 1000)
        while true {
            let page = try await log.history([request])[0]
            found += page.items
            guard let rest = request.rest(behind: page) else { break }
            request = rest
        }
        let state = state.withLock { $0 }
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.timetoken < $1.timetoken })
        var places: [String: Timetoken] = [:]
        for event in found {
            let text = String(event.data.description.dropFirst().dropLast())
            #expect(places.updateValue(event.timetoken, forKey: text) == nil, "\(text) is stored twice")
            #expect(state.stored[text] != nil || state.unknown.contains(text), "\(text) was refused")
        }
        for (text, timetoken) in state.stored { #expect(places[text] == timetoken, "\(text) is lost") }
    }
}

/// The texts of the first events that a follower receives.
private func receive(_ count: Int, from commits: CommitSequence) async -> [String] {
    var texts: [String] = []
    for await commit in commits {
        texts += commit.events.map { String($0.data.description.dropFirst().dropLast()) }
        if texts.count >= count { break }
    }
    return texts
}

@Suite(
    "A cluster under faults",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.installation),
    .enabled(if: NATSServer.isInstalled, NATSServer.installation))
struct FaultTests {
    @Test("loses and doubles nothing when PostgreSQL is killed under load, and recovers without a restart")
    func killedPostgreSQL() async throws {
        let server = try await PostgresServer(isDurable: true)
        let cluster = try await ClusterUnderTest(
            nodes: 2, url: try await server.makeDatabase(), Limits(), ManualClock(.running))
        let nodes = await cluster.clusterEngines
        let ledger = Ledger()
        let isOver = Lock(false)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0... {
                        if isOver.withLock({ $0 }) { return }
                        await ledger.append("\(task).\(number)", to: nodes[task % 2].log)
                    }
                }
            }
            await waitUntil { ledger.storedCount >= 200 }
            await server.kill()
            await waitUntil { ledger.refusedCount >= 10 }
            #expect(await nodes[0].health() != .ready)
            try? await server.start()
            let stored = ledger.storedCount
            await waitUntil { ledger.storedCount >= stored + 200 }
            isOver.withLock { $0 = true }
        }
        for node in nodes { try await ledger.audit(node.log) }
        await cluster.end()
        await server.stop()
    }

    @Test("logs the first failure of the delivery queue only, while PostgreSQL is unavailable")
    func queueLog() async throws {
        let server = try await PostgresServer()
        let log = LogMessages()
        var settings = ClusterEngineSettings(clock: ManualClock(.running))
        settings.logger = log.logger
        let store = try await PostgresStore.open(
            ConnectionSettings(connectionInfo: try await server.makeDatabase()), readers: 2, logger: settings.logger)
        let engine = try await ClusterEngine(store: store, bus: nil, settings: settings)
        await server.kill()
        for _ in 0..<3 {
            await #expect(throws: ChatError.self) {
                try await engine.deliveries.set(.open, of: SubscriberID("wh", in: app), concurrency: 1)
            }
        }
        #expect(log.lines.value.count { $0.contains("a change of the delivery queue failed") } == 1)
        await engine.close()
        await server.stop()
    }

    @Test("records the outcome of a delivery although PostgreSQL is restarted meanwhile")
    func outcomeWithoutPostgreSQL() async throws {
        let server = try await PostgresServer()
        let cluster = try await ClusterUnderTest(
            nodes: 1, url: try await server.makeDatabase(), Limits(), ManualClock(.running))
        let deliveries = await cluster.clusterEngines[0].deliveries
        let item = PlannedDelivery(
            id: "dlv_1", subscriber: SubscriberID("wh", in: app), event: Timetoken(1), type: "t", channel: "room")
        try await deliveries.plan([item], cursor: CursorName("c"), from: .zero, to: Timetoken(1))
        let lease = try #require(try await deliveries.lease(1, wait: .zero).first)
        await server.kill()
        async let recorded = deliveries.finish(
            lease,
            DeliveryOutcome(
                .delivered, attempt: DeliveryAttempt(at: Timetoken(1), status: 200, error: nil, durationMilliseconds: 1)
            ))
        try await server.start()
        #expect(try await recorded)
        await cluster.end()
        await server.stop()
    }

    @Test("lets a listener on another node hear an event within a second while NATS is away, and afterwards")
    func killedNATS() async throws {
        let server = try await NATSServer()
        let cluster = try await ClusterUnderTest(nodes: 2, bus: .nats(server.url), Limits(), ManualClock(.running))
        let nodes = await cluster.clusterEngines
        let commits = await nodes[1].log.committed()
        _ = try await nodes[0].log.append([EventDraft("with")], claim: nil)
        await server.kill()
        _ = try await nodes[0].log.append([EventDraft("without")], claim: nil)
        let start = ContinuousClock.now
        #expect(await receive(2, from: commits) == ["with", "without"])
        #expect(ContinuousClock.now - start < .seconds(1))
        try await server.start()
        _ = try await nodes[0].log.append([EventDraft("again")], claim: nil)
        #expect(await receive(1, from: commits) == ["again"])
        await cluster.end()
        await server.stop()
    }

    @Test("brings a node that lost its connection to PostgreSQL up to date")
    func disconnectedNode() async throws {
        let cluster = try await ClusterUnderTest(nodes: 2)
        let nodes = await cluster.clusterEngines
        let commits = await nodes[1].log.committed()
        _ = try await nodes[1].log.append([EventDraft("first")], claim: nil)
        try await cluster.cutConnections()
        _ = try await nodes[0].log.append([EventDraft("second")], claim: nil)
        _ = try await nodes[1].log.append([EventDraft("third")], claim: nil)
        #expect(await receive(3, from: commits) == ["first", "second", "third"])
        await cluster.end()
    }

    @Test("follows the clock of PostgreSQL, whatever the clock of the node shows")
    func wrongClock() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        var settings = ClusterEngineSettings(clock: ManualClock(.running))
        settings.clock = ClusterClock(
            WallClock { WallClock.system.now.adding(.seconds(-3600)) }, followsStore: true)
        let store = try await PostgresStore.open(
            ConnectionSettings(connectionInfo: url), readers: 2, logger: settings.logger)
        let engine = try await ClusterEngine(store: store, bus: nil, settings: settings)
        await waitUntil {
            let event = try? await engine.log.append([EventDraft("x")], claim: nil).events[0].event
            return event.map { $0.timetoken > WallClock.system.now.adding(.seconds(-60)) } ?? false
        }
        await engine.close()
    }

    @Test("ends its housekeeping although the clock runs, and removes other data beside outlived events")
    func housekeepingEnds() async throws {
        let cluster = try await ClusterUnderTest(nodes: 1, Limits(), ManualClock(.running))
        let node = await cluster.clusterEngines[0]
        var expired = EventDraft("expired")
        expired.expires = WallClock.system.now
        _ = try await node.log.append([expired, EventDraft("stays")], claim: nil)
        try await node.log.setRetention(.seconds(3600), of: app)
        try await node.log.setRetention(.seconds(7200), of: AppID("another app"))
        try await node.removeOutlived()
        #expect(try await cluster.integer("SELECT count(*) FROM event") == 1)
        await cluster.end()
    }

    @Test("tells a node without a bus of every record of a commit with more records than one read has")
    func largeCommit() async throws {
        let cluster = try await ClusterUnderTest(nodes: 2)
        let nodes = await cluster.clusterEngines
        let known = Lock<Set<RecordKey>>([])
        nodes[1].directory.observe { changes in known.withLock { $0.formUnion(changes.keys) } }
        let changes = (0..<2500).map { RecordChange(RecordKey(.user, "u\($0)", in: app), body: .emptyObject) }
        _ = try await nodes[0].directory.write(changes)
        _ = try await nodes[1].directory.revision()
        #expect(known.withLock { $0.count } == 2500)
        await cluster.end()
    }

    @Test("stores nothing after it is closed")
    func closed() async throws {
        let cluster = try await ClusterUnderTest(nodes: 1)
        let node = await cluster.clusterEngines[0]
        let event = try await node.log.append([EventDraft("x")], claim: nil).events[0].event
        await node.close()
        await #expect(throws: ChatError.self) {
            try await node.log.delete(after: .zero, before: .distantFuture, in: event.channel)
        }
        await #expect(throws: ChatError.self) { try await node.removeOutlived() }
        #expect(try await cluster.integer("SELECT count(*) FROM event") == 1)
        await cluster.end()
    }

    @Test("forgets what it has in memory after an absence that is longer than notices of deletions are kept")
    func longAbsence() async throws {
        let clock = ManualClock()
        let cluster = try await ClusterUnderTest(nodes: 1, Limits(), clock)
        let node = await cluster.clusterEngines[0]
        let events = try await node.log.append([EventDraft("x"), EventDraft("y")], claim: nil).events.map(\.event)
        // A deletion whose notice is gone.
        try await cluster.execute("DELETE FROM event WHERE tt = \(events[0].timetoken)")
        #expect(try await node.log.event(at: events[0].timetoken, in: app) != nil)
        clock.advance(by: .seconds(3100))
        #expect(try await node.log.event(at: events[0].timetoken, in: app) == nil)
        let page = try await node.log.events(in: everything, after: .zero, limit: 10)
        #expect(page.items.map(\.timetoken) == [events[1].timetoken])
        await cluster.end()
    }

    @Test("tells the caller of a commit whose connection is lost what became of it", arguments: [true, false])
    func lostCommit(_ isCommitted: Bool) async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        let store = FaultyStore(
            try await PostgresStore.open(
                ConnectionSettings(connectionInfo: url), readers: 2, logger: Logger(label: "test")),
            commitsFirst: isCommitted)
        let engine = try await ClusterEngine(
            store: store, bus: nil, settings: ClusterEngineSettings(clock: ManualClock()))
        store.isArmed.withLock { $0 = true }
        let outcome: ChatError.Code?
        do throws(ChatError) {
            _ = try await engine.log.append([EventDraft("x")], claim: nil)
            outcome = nil
        } catch {
            outcome = error.code
        }
        #expect(outcome == (isCommitted ? nil : .unavailable))
        let found = try await engine.log.events(in: everything, after: .zero, limit: 10)
        #expect(found.items.count == (isCommitted ? 1 : 0))
        await engine.close()
    }
}
