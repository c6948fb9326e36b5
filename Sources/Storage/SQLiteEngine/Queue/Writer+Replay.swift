import ChatModel
import SQLite

/// What is left of a replay: it goes on in stretches, so that others' work gets between.
struct ReplayStretch: Sendable {
    let selection: DeliverySelection
    /// Ids from this index on, or events above this position.
    let from: UInt64

    init?(_ selection: DeliverySelection, from: UInt64? = nil) {
        self.selection = selection
        switch selection {
        case .ids(let ids, _):
            self.from = from ?? 0
            if self.from >= ids.count { return nil }
        case .range(_, let after, let before, _):
            self.from = from ?? after.rawValue
            if self.from >= before.rawValue { return nil }
        }
    }
}

extension Writer {
    /// Makes the stretch's deliveries due now. Those under way are left alone, and those of a closed endpoint.
    func replay(
        _ stretch: ReplayStretch, isDryRun: Bool, board: Board
    ) throws(SQLiteFailure) -> (count: Int, next: ReplayStretch?) {
        let (found, next) = try find(stretch, board)
        let free = found.filter { row in
            board.standing(of: row.key.endpoint)?.state != .closed && !board.isLeased(row.key)
        }
        guard !isDryRun else { return (free.count, next) }
        var lanes: [Int64: Int] = [:]
        for row in free {
            let revive = statements.deliveries.revive
            revive.bind(Int64(row.key.event), at: 1)
            revive.bind(row.key.endpoint, at: 2)
            revive.bind(Int64(now.rawValue), at: 3)
            try revive.run()
            lanes[row.key.endpoint, default: 0] += row.isWaiting ? 0 : 1
        }
        effects.append { [lanes] in board.forget(lanes) }
        return (free.count, next)
    }

    private typealias Row = (key: DeliveryKey, isWaiting: Bool)

    private func find(_ stretch: ReplayStretch, _ board: Board) throws(SQLiteFailure) -> ([Row], ReplayStretch?) {
        switch stretch.selection {
        case .ids(let ids, let space):
            let part = ids[Int(stretch.from)...].prefix(Self.turnRows)
            var rows: [Row] = []
            for id in Set(part) {
                let find = statements.deliveries.findByID
                find.bind(id, at: 1)
                find.bind(space.name, at: 2)
                try find.forEachRow { row in
                    rows.append(row.deliveryRow)
                    return true
                }
            }
            return (rows, ReplayStretch(stretch.selection, from: UInt64(part.endIndex)))
        case .range(let endpoint, _, let before, let onlyFailed):
            guard let number = board.number(of: endpoint) else { return ([], nil) }
            let find = statements.deliveries.findRange
            find.bind(number, at: 1)
            find.bind(Int64(clamping: stretch.from), at: 2)
            find.bind(Int64(clamping: before.rawValue), at: 3)
            find.bind(onlyFailed ? 1 : 0, at: 4)
            find.bind(Self.turnRows, at: 5)
            var rows: [Row] = []
            try find.forEachRow { row in
                rows.append(row.deliveryRow)
                return true
            }
            let isMoreLeft = rows.count == Self.turnRows
            return (rows, isMoreLeft ? ReplayStretch(stretch.selection, from: rows[rows.count - 1].key.event) : nil)
        }
    }
}

extension Statement {
    /// Columns tt, ep, state.
    fileprivate var deliveryRow: (key: DeliveryKey, isWaiting: Bool) {
        (DeliveryKey(event: UInt64(integer(0)), endpoint: integer(1)), integer(2) == 0)
    }
}
