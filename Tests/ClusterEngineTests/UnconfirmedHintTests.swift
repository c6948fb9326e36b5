import ChatModel
import JSON
import Locking
import PostgresSupport
import Testing
import TestSupport

@testable import ClusterEngine

@Suite(
    "A node that receives hints but cannot read the store",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct UnconfirmedHintTests {
    private static func draft(_ text: String) -> EventDraft {
        EventDraft(channel: ChannelID("room", in: AppID("app")), type: "t", data: JSONText(string: text))
    }

    /// The text of the next event that a follower receives.
    private static func next(_ commits: CommitSequence) async -> String? {
        for await commit in commits {
            if let event = commit.events.first { return String(event.data.description.dropFirst().dropLast()) }
        }
        return nil
    }

    @Test("delivers their events for a second, then holds them, and delivers them when the store can be read again")
    func holds() async throws {
        let (clock, bus) = (ManualClock(), LocalBus())
        let cluster = try await ClusterUnderTest(nodes: 1, bus: .local(bus), Limits(), clock)
        let emitter = await cluster.clusterEngines[0].log
        let store = FaultyStore(try await openStore(cluster.url))
        let node = try await ClusterEngine(
            store: store, bus: bus.connect(), settings: ClusterEngineSettings(clock: clock))
        let commits = await node.log.committed()
        store.isAway.withLock { $0 = true }
        // A read that began before ends before this one.
        try? await node.follower.catchUp()
        _ = try await emitter.append([Self.draft("in time")], claim: nil)
        #expect(await Self.next(commits) == "in time")
        clock.advance(by: .milliseconds(1001))
        let (have, gapReads) = (await node.follower.have, await node.follower.gapReads)
        _ = try await emitter.append([Self.draft("held")], claim: nil)
        // The node tries to read the store because of the hint.
        await waitUntil {
            let (isRead, end) = (await node.follower.gapReads > gapReads, await node.follower.have)
            return isRead || end != have
        }
        #expect(await node.follower.have == have)
        store.isAway.withLock { $0 = false }
        #expect(await Self.next(commits) == "held")
        _ = try await emitter.append([Self.draft("again")], claim: nil)
        #expect(await Self.next(commits) == "again")
        await node.close()
        await cluster.end()
    }
}
