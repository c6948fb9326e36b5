import ChatModel
import EngineConformance
import JSON
import Locking
import PostgresSupport
import StorageCore
import TestSupport
import Testing

@testable import ClusterEngine

@Suite("What a newer node sends and stores", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct NewerFormsTests {
    private let app = AppID("app")

    private func draft(_ text: String) -> EventDraft {
        EventDraft(channel: ChannelID("room", in: app), type: "t", data: JSONText(string: text))
    }

    /// The texts of the events that a node knows.
    private func texts(_ node: ClusterEngine) async throws -> [String] {
        try await node.log.events(in: ChannelSet(app: app, isAll: true), after: .zero, limit: 100).items
            .map { $0.draft.data.description }
    }

    /// The binary form of notices of which one has an unknown kind, whose content looks like other notices.
    private func notices(_ known: [Notice]) -> [UInt8] {
        var out = ByteWriter()
        out.write(count: known.count + 1)
        out.write(bytes: [77] + FrameCodec.encode([.retention(app: "app", ticks: 1)]).dropFirst(4))
        return out.bytes + FrameCodec.encode(known).dropFirst(4)
    }

    @Test("in a newer form of frames, or as a hint of an unknown kind, is read from the store instead")
    func frames() async throws {
        let frame = FrameCodec.encode(Frame(after: 1, head: Head(commit: 2)))
        #expect(FrameCodec.decode(frame)?.head.commit == 2)
        let newer = [FrameCodec.version + 1] + frame.dropFirst() + [1, 2, 3]
        #expect(FrameCodec.decode(newer) == nil)
        #expect(FrameCodec.decode(frame + [0]) == nil)

        let bus = LocalBus()
        let cluster = try await ClusterUnderTest(nodes: 2, bus: .local(bus))
        let nodes = await cluster.clusterEngines
        let other = bus.connect()
        for hint in [newer, [FrameCodec.version + 1], [201, 5], []] { other.publish(hint) }
        _ = try await nodes[0].log.append([draft("x")], claim: nil)
        await waitUntil { (try? await self.texts(nodes[1])) == [#""x""#] }
        await cluster.end()
    }

    @Test("as a notice of an unknown kind is skipped, and the notices around it have effect")
    func unknownNotice() async throws {
        let known: [Notice] = [
            .retention(app: "app", ticks: nil), .deleted([Timetoken(7)]),
            .swept(app: "app", swept: Timetoken(5), newestLoss: Timetoken(4)),
        ]
        #expect(FrameCodec.notices(notices(known)) == known)
        #expect(FrameCodec.notices(FrameCodec.encode(known)) == known)

        let cluster = try await ClusterUnderTest(nodes: 1)
        let node = await cluster.clusterEngines[0]
        let events = try await node.log.append([draft("gone"), draft("stays")], claim: nil).events.map(\.event)
        let hex = notices([.deleted([events[0].timetoken])]).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        try await cluster.execute(
            """
            WITH moved AS (UPDATE head SET commit = commit + 1 RETURNING commit),
                gone AS (DELETE FROM event WHERE tt = \(events[0].timetoken))
            INSERT INTO notice(commit, body, at) SELECT commit, '\\x\(hex.joined())', 1 FROM moved
            """)
        _ = try await node.log.append([draft("next")], claim: nil)
        #expect(try await texts(node) == [#""stays""#, #""next""#])
        #expect(try await node.log.event(at: events[0].timetoken, in: app) == nil)
        await cluster.end()
    }

    @Test("as a record of an unknown kind is skipped, and the records of the same commit are noticed")
    func unknownRecord() async throws {
        let cluster = try await ClusterUnderTest(nodes: 1)
        let node = await cluster.clusterEngines[0]
        let noticed = Lock<[RecordKey]>([])
        node.directory.observe { changes in noticed.withLock { $0 += changes.keys } }
        let key = RecordKey(.user, "known", in: app)
        try await cluster.execute(
            """
            WITH moved AS (UPDATE head SET commit = commit + 1, revision = revision + 1 RETURNING revision),
                removal AS (INSERT INTO removed(revision, app, kind, id, at)
                    SELECT revision, 'app', 998, 'gone', 9000000000000000000 FROM moved)
            INSERT INTO record(app, kind, id, revision, updated, body, tag)
            SELECT 'app', kind, id, revision, 1, '{"form":"newer"}', 1
            FROM moved, (VALUES (999, 'unknown'), (\(key.kind.rawValue), 'known')) AS k(kind, id)
            """)
        _ = try await node.directory.write([RecordChange(RecordKey(.user, "next", in: app), body: .emptyObject)])
        #expect(noticed.withLock { $0 } == [key, RecordKey(.user, "next", in: app)])
        #expect(try await node.directory.read(key)?.body.description == #"{"form":"newer"}"#)
        try await node.removeOutlived()
        #expect(try await cluster.integer("SELECT count(*) FROM record WHERE kind = 999") == 1)
        await cluster.end()
    }

    @Test("as an event of an unknown kind and audience is delivered to webhooks only, as another kind of event")
    func unknownEvent() async throws {
        let cluster = try await ClusterUnderTest(nodes: 1)
        let node = await cluster.clusterEngines[0]
        let first = try await node.log.append([draft("first")], claim: nil).events[0].event
        try await cluster.execute(
            """
            WITH moved AS (UPDATE head SET commit = commit + 1, tt = tt + 1 RETURNING tt)
            INSERT INTO event(tt, ch, kind, type, body, audience, by_type)
            SELECT moved.tt, e.ch, 99, 'newer', '"second"', ':newer-rule\nann', false FROM moved, event e
            """)
        let timetoken = Timetoken(first.timetoken.rawValue + 1)
        let event = try await node.log.event(at: timetoken, in: app)
        #expect(event?.draft.kind == .other && event?.draft.audience == .webhooks)
        #expect(try await texts(node) == [#""first""#, #""second""#])
        await cluster.end()
    }

    @Test("as presence of an unknown kind changes nothing, and is removed with its node")
    func unknownPresence() async throws {
        let cluster = try await PresenceCluster(nodes: 2)
        let ana = cluster.user("ana")
        let key = PresenceKey(.participant, of: "ana", on: ChannelID("lobby", in: app))
        _ = try await cluster.nodes[0].renew([key], for: .seconds(10))
        for node in cluster.nodes { _ = try await node.expire() }
        try await cluster.run(
            """
            INSERT INTO presence(app, kind, channel, member, node, news, entered)
            SELECT app, 99, channel, member, node, 3, entered FROM presence
            """)
        for node in cluster.nodes { _ = try await node.expire() }
        #expect(try await cluster.nodes[1].channels(of: ana, as: .participant).count == 1)
        #expect(try await cluster.nodes[0].leave([key]).map(\.happening) == [.left])
        await cluster.end()
    }
}
