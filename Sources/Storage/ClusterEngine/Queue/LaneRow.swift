import ChatModel
import Postgres
import StorageCore

/// The row of a subscriber, as a transaction has read it.
struct LaneRow: Sendable {
    /// The node that leases the lane's deliveries.
    enum Holder: Sendable { case me, other, nobody }

    let stored: StoredSubscriber
    /// The number of waiting deliveries.
    let waiting: Int
    let fence: Int64
    let version: Int64
    let owner: Int64?
    let isOwnerAlive: Bool
    /// A node that needs the lane, of a pulled subscription.
    let wanted: Int64?

    var number: Int64 { stored.number }
    var settings: LaneSettings { stored.settings }
    var isReordering: Bool { stored.reordering != .done }

    /// The time of the database in ticks.
    static let databaseTime = "(extract(epoch FROM clock_timestamp()) * 10000000)::bigint"

    /// The columns that ``init(_:_:)`` expects, of a row `s` of the table `subscriber`.
    static let columns = """
        s.id, s.app, s.name, s.state, s.concurrency, s.ordering, s.rate, s.batch, s.pulled, s.attempts, s.reordering, \
        s.waiting, s.fence, s.version, s.owner, \
        s.owner IS NOT NULL AND EXISTS (SELECT 1 FROM node n WHERE n.id = s.owner AND n.lease_until > \(databaseTime)), \
        s.wanted
        """

    init(_ rows: Rows, _ row: Int) {
        var settings = LaneSettings(
            state: LaneState(rawValue: Int(rows.integer(row, 3) ?? 0)) ?? .open,
            concurrency: Int(rows.integer(row, 4) ?? 1))
        settings.ordering = DeliveryOrdering(rawValue: Int(rows.integer(row, 5) ?? 0)) ?? .none
        settings.rate = rows.double(row, 6)
        settings.deliveriesPerAttempt = Int(rows.integer(row, 7) ?? 1)
        settings.isPulled = rows.boolean(row, 8) ?? false
        settings.attempts = rows.integer(row, 9).map { Int($0) }
        stored = StoredSubscriber(
            number: rows.integer(row, 0) ?? 0,
            subscriber: SubscriberID(rows.text(row, 2) ?? "", in: AppID(rows.text(row, 1) ?? "")), settings: settings,
            reordering: Reordering(rawValue: Int(rows.integer(row, 10) ?? 0)) ?? .done)
        waiting = Int(rows.integer(row, 11) ?? 0)
        fence = rows.integer(row, 12) ?? 0
        version = rows.integer(row, 13) ?? 0
        owner = rows.integer(row, 14)
        isOwnerAlive = rows.boolean(row, 15) ?? false
        wanted = rows.integer(row, 16)
    }

    static func all(_ rows: Rows) -> [LaneRow] { (0..<rows.count).map { LaneRow(rows, $0) } }
}

extension QueueTransaction {
    /// The node that owns a lane.
    func holder(of lane: LaneRow) -> LaneRow.Holder {
        if lane.owner == lanes.node { return lanes.known(lane.number)?.fence == lane.fence ? .me : .nobody }
        return lane.isOwnerAlive ? .other : .nobody
    }

    /// Locks the rows of lanes until the end of the transaction. All changes of a lane's deliveries hold this lock.
    static func lock(_ numbers: [Int64]) -> Statement {
        Statement(
            "SELECT \(LaneRow.columns) FROM subscriber s WHERE s.id = ANY($1) ORDER BY s.id FOR UPDATE OF s",
            [.integers(numbers)])
    }

    /// The lanes in the rows of ``lock(_:)``, by number.
    func locked(_ rows: Rows) -> [Int64: LaneRow] {
        var found: [Int64: LaneRow] = [:]
        for lane in LaneRow.all(rows) {
            found[lane.number] = lane
            afterCommit { [lanes] in lanes.compare(lane) }
        }
        return found
    }

    /// Locks and returns one lane; nil if it does not exist.
    func lock(_ number: Int64) async throws(PostgresFailure) -> LaneRow? {
        locked(try await run([Self.lock([number])])[0])[number]
    }

    /// Marks the lanes that this node does not own as changed, so that their owners read them again.
    func touch(_ changed: some Sequence<LaneRow>) {
        let foreign = changed.filter { holder(of: $0) != .me }.map(\.number)
        guard !foreign.isEmpty else { return }
        later(Statement("UPDATE subscriber SET version = version + 1 WHERE id = ANY($1)", [.integers(foreign)]))
        afterCommit { [lanes] in lanes.changed(foreign) }
    }

    /// Changes the numbers of waiting deliveries.
    func count(_ changes: [Int64: Int]) {
        let changes = changes.filter { $0.value != 0 }
        guard !changes.isEmpty else { return }
        let rows = Array(changes)
        later(
            Statement(
                """
                UPDATE subscriber s SET waiting = greatest(0, s.waiting + k.change)
                FROM unnest($1::bigint[], $2::bigint[]) AS k(id, change) WHERE s.id = k.id
                """, [.integers(rows.map(\.key)), .integers(rows.map { Int64($0.value) })]))
    }
}
