import ChatModel
import Postgres
import StorageCore

/// The content of a cluster's tables, as one snapshot shows it.
struct TableFacts: Sendable {
    /// The number of nodes whose lease has not ended.
    let nodes: Int
    /// The versions of the tables that these nodes know.
    let versionsOfNodes: Set<Int>
    /// The server's clock minus the local clock.
    private let clockDifference: Duration
    private let head: Head
    private let databaseBytes: Int
    private let events: Int
    /// The number of subscribers with a queue.
    private let lanes: Int
    /// The number of lanes of each node that has any.
    private let lanesOfNodes: [(node: Int, lanes: Int)]
    private let waiting: Int
    /// The oldest due time of a delivery that a node should have sent.
    private let oldestDue: Timetoken?

    /// The difference of the clocks above which the check warns.
    private static let clockTolerance: Duration = .seconds(1)
    /// The lag of deliveries above which the check warns.
    private static let lagTolerance: Duration = .seconds(60)

    static func read(_ connection: Connection, clock: WallClock) async throws(PostgresFailure) -> TableFacts {
        let time = LaneRow.databaseTime
        let sent = clock.now
        let head = PostgresStore.head(try await connection.run([Statement(PostgresStore.selectHead)])[0])
        let received = clock.now
        let middle = Timetoken(sent.rawValue / 2 + received.rawValue / 2)
        let rows = try await connection.run([
            Statement(
                """
                SELECT (SELECT count(*) FROM node WHERE lease_until > \(time)),
                    pg_database_size(current_database()),
                    (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'event'::regclass),
                    ARRAY(SELECT DISTINCT version::bigint FROM node WHERE lease_until > \(time))
                """),
            // A pulled subscription has no sender whose lag could be measured.
            Statement(
                """
                SELECT count(*), coalesce(sum(s.waiting), 0)::bigint, min(CASE WHEN s.state = $1 AND NOT s.pulled THEN (
                    SELECT min(d.due) FROM delivery d WHERE d.ep = s.id AND d.state = 0) END) FROM subscriber s
                """, [.integer(Int64(LaneState.open.rawValue))]),
            Statement(
                """
                SELECT n.id, count(*) FROM node n JOIN subscriber s ON s.owner = n.id WHERE n.lease_until > \(time)
                GROUP BY n.id ORDER BY n.id
                """),
        ])
        return TableFacts(
            nodes: Int(rows[0].integer(0, 0) ?? 0),
            versionsOfNodes: Set((rows[0].integers(0, 3) ?? []).compactMap { $0.map { Int($0) } }),
            clockDifference: middle.duration(to: head.time), head: head,
            databaseBytes: Int(rows[0].integer(0, 1) ?? 0), events: Int(rows[0].integer(0, 2) ?? 0),
            lanes: Int(rows[1].integer(0, 0) ?? 0),
            lanesOfNodes: (0..<rows[2].count).map {
                (Int(rows[2].integer($0, 0) ?? 0), Int(rows[2].integer($0, 1) ?? 0))
            }, waiting: Int(rows[1].integer(0, 1) ?? 0), oldestDue: rows[1].timetoken(0, 2))
    }

    var findings: [ClusterFinding] {
        [sizeFinding, headFinding, nodesFinding, deliveriesFinding, clockFinding]
    }

    private var sizeFinding: ClusterFinding {
        ClusterFinding("size", .ok, "the database has \(databaseBytes / 1_000_000) MB and about \(events) events")
    }

    private var headFinding: ClusterFinding {
        let age = head.timetoken.duration(to: head.time)
        let text = "the newest timetoken is \(head.timetoken), \(Self.text(age)) old"
        guard age < .zero - Self.clockTolerance else { return ClusterFinding("head", .ok, text) }
        return ClusterFinding(
            "head", .warning, "the newest timetoken is \(Self.text(.zero - age)) ahead of the server's clock",
            advice: "correct the clock of the server; until then, new events have times in the future")
    }

    private var nodesFinding: ClusterFinding {
        let owners = lanesOfNodes.map { "node \($0.node) owns \($0.lanes)" }
        let parts =
            [nodes == 1 ? "1 node runs" : "\(nodes) nodes run"]
            + (owners.isEmpty ? [] : [owners.joined(separator: ", ") + " delivery queues"])
        return ClusterFinding("nodes", .ok, parts.joined(separator: "; "))
    }

    private var deliveriesFinding: ClusterFinding {
        let lag = oldestDue.map { max(.zero, $0.duration(to: head.time)) } ?? .zero
        let text = "\(lanes) subscribers, \(waiting) waiting deliveries; the oldest due one is \(Self.text(lag)) late"
        guard lag > Self.lagTolerance else { return ClusterFinding("deliveries", .ok, text) }
        return ClusterFinding(
            "deliveries", .warning, text,
            advice: nodes == 0
                ? "no node runs: start one" : "see the logs of the nodes, and the receivers of the webhooks")
    }

    private var clockFinding: ClusterFinding {
        let size = clockDifference < .zero ? .zero - clockDifference : clockDifference
        let text = "the clock of the server differs from this machine's by \(Self.text(size))"
        guard size > Self.clockTolerance else { return ClusterFinding("clock", .ok, text) }
        return ClusterFinding(
            "clock", .warning, text, advice: "synchronize both clocks (timedatectl); events have the server's time")
    }

    /// A duration in seconds.
    private static func text(_ duration: Duration) -> String {
        let milliseconds = Int(duration / .milliseconds(1))
        return milliseconds < 10_000
            ? "\(milliseconds / 1000).\(String("\(1000 + milliseconds % 1000)".dropFirst())) s"
            : "\(milliseconds / 1000) s"
    }
}

extension Timetoken {
    /// The time from this one to another; negative if the other one is earlier.
    fileprivate func duration(to other: Timetoken) -> Duration {
        Duration(timetokenTicks: Int64(clamping: other.rawValue) - Int64(clamping: rawValue))
    }
}
