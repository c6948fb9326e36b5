import ChatModel
import Postgres

extension PostgresTransaction {
    func remove(
        _ removal: Removal, _ edges: HousekeepingEdges, limit: Int,
        cutoff: @Sendable (AppID, Duration) -> Timetoken
    ) async throws(StoreFailure) -> HousekeepingResult {
        let count = Value.integer(Int64(limit))
        switch removal {
        case .outlived: return try await removeOutlived(limit, cutoff)
        case .expired:
            let rows = try await run([
                Statement(
                    """
                    WITH gone AS (DELETE FROM event WHERE tt IN (
                        SELECT tt FROM event WHERE expires IS NOT NULL AND expires <= $1 LIMIT $2)
                        RETURNING tt, ch, type, by_type AND origin IS DISTINCT FROM '' AS is_loss)
                    SELECT g.tt, g.ch, g.type, g.is_loss, c.app FROM gone g JOIN channel c ON c.id = g.ch
                    """, [.timetoken(edges.now), count])
            ])[0]
            return HousekeepingResult(
                notices: try await record(losses(rows)), hasRemoved: rows.count > 0, isMoreLeft: rows.count == limit)
        case .passing:
            return try await remove(
                "DELETE FROM passing WHERE tt IN (SELECT tt FROM passing WHERE tt < $1 ORDER BY tt LIMIT $2)",
                edges.passing, limit)
        case .repeats:
            return try await remove(
                "DELETE FROM seen WHERE (ch, key) IN (SELECT ch, key FROM seen WHERE until <= $1 LIMIT $2)",
                edges.now, limit)
        case .claims:
            return try await remove(
                "DELETE FROM claim WHERE (app, key) IN (SELECT app, key FROM claim WHERE until <= $1 LIMIT $2)",
                edges.now, limit)
        case .tombstones:
            return try await remove(
                """
                DELETE FROM removed WHERE (revision, app, kind, id) IN (
                    SELECT revision, app, kind, id FROM removed WHERE at < $1 ORDER BY at LIMIT $2)
                """, edges.tombstones, limit)
        case .notices:
            return try await remove(
                "DELETE FROM notice WHERE commit IN (SELECT commit FROM notice WHERE at < $1 ORDER BY at LIMIT $2)",
                edges.notices, limit)
        case .writers:
            return try await remove(
                "DELETE FROM writer WHERE id IN (SELECT id FROM writer WHERE at < $1 LIMIT $2)", edges.tombstones, limit
            )
        }
    }

    private func remove(
        _ text: String, _ edge: Timetoken, _ limit: Int
    ) async throws(StoreFailure) -> HousekeepingResult {
        let rows = try await run([Statement(text, [.timetoken(edge), .integer(Int64(limit))])])[0]
        return HousekeepingResult(hasRemoved: rows.affected > 0, isMoreLeft: rows.affected == limit)
    }

    /// Removes events that are older than the retention of their app. Continues after the events that the last round has
    /// examined, so that no event is examined twice.
    private func removeOutlived(
        _ limit: Int, _ cutoff: @Sendable (AppID, Duration) -> Timetoken
    ) async throws(StoreFailure) -> HousekeepingResult {
        let apps = try await run([
            Statement("SELECT name, retention, swept FROM app WHERE retention IS NOT NULL ORDER BY name")
        ])[0]
        for row in 0..<apps.count {
            let app = AppID(apps.text(row, 0) ?? "")
            let swept = apps.timetoken(row, 2) ?? .zero
            let cutoff = cutoff(app, Duration(timetokenTicks: apps.integer(row, 1) ?? 0))
            guard cutoff > swept else { continue }
            var result = try await removeOutlived(app, after: swept, cutoff: cutoff, limit)
            result.isMoreLeft = true
            return result
        }
        return HousekeepingResult(hasRemoved: false)
    }

    private func removeOutlived(
        _ app: AppID, after swept: Timetoken, cutoff: Timetoken, _ limit: Int
    ) async throws(StoreFailure) -> HousekeepingResult {
        let last = try await run([
            Statement(
                "SELECT tt FROM event WHERE tt > $1 AND tt <= $2 ORDER BY tt LIMIT 1 OFFSET $3",
                [.timetoken(swept), .timetoken(cutoff), .integer(Int64(limit - 1))])
        ])[0]
        let end = last.count == 0 ? cutoff : last.timetoken(0, 0) ?? cutoff
        let rows = try await run([
            Statement(
                """
                WITH gone AS (DELETE FROM event e USING channel c
                    WHERE c.id = e.ch AND c.app = $3 AND e.tt > $1 AND e.tt <= $2
                    RETURNING e.tt, e.ch, e.type, e.origin IS DISTINCT FROM '' AS is_loss)
                SELECT tt, ch, type, is_loss, $3 FROM gone
                """, [.timetoken(swept), .timetoken(end), .text(app.name)]),
            Statement(
                "UPDATE app SET swept = greatest(swept, $2) WHERE name = $1", [.text(app.name), .timetoken(end)]),
        ])
        var result = HousekeepingResult(notices: try await record(losses(rows[0])), hasRemoved: true)
        result.notices.append(.swept(app: app.name, swept: end, newestLoss: .zero))
        return result
    }

    private struct Losses {
        struct Kind: Hashable { let channel: Int64, type: String, app: String }
        var newest: [Kind: Timetoken] = [:]
    }

    private func losses(_ rows: Rows) -> Losses {
        var losses = Losses()
        for row in 0..<rows.count where rows.boolean(row, 3) == true {
            let kind = Losses.Kind(
                channel: rows.integer(row, 1) ?? 0, type: rows.text(row, 2) ?? "", app: rows.text(row, 4) ?? "")
            losses.newest[kind] = max(losses.newest[kind] ?? .zero, rows.timetoken(row, 0) ?? .zero)
        }
        return losses
    }

    /// Stores, for each channel and type, the newest removed event that counts as a loss for readers.
    private func record(_ losses: Losses) async throws(StoreFailure) -> [Notice] {
        guard !losses.newest.isEmpty else { return [] }
        let rows = Array(losses.newest)
        var newestOfApp: [String: Timetoken] = [:]
        for (kind, timetoken) in rows { newestOfApp[kind.app] = max(newestOfApp[kind.app] ?? .zero, timetoken) }
        let apps = Array(newestOfApp)
        _ = try await run([
            Statement(
                """
                INSERT INTO loss(ch, type, app, tt)
                SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
                ON CONFLICT (ch, type) DO UPDATE SET tt = greatest(loss.tt, excluded.tt)
                """,
                [
                    .integers(rows.map(\.key.channel)), .texts(rows.map(\.key.type)), .texts(rows.map(\.key.app)),
                    .integers(rows.map(\.value.stored)),
                ]),
            Statement(
                """
                INSERT INTO app(name, floor) SELECT * FROM unnest($1::text[], $2::bigint[])
                ON CONFLICT (name) DO UPDATE SET floor = greatest(app.floor, excluded.floor)
                """, [.texts(apps.map(\.key)), .integers(apps.map(\.value.stored))]),
        ])
        return apps.map { .swept(app: $0.key, swept: .zero, newestLoss: $0.value) }
    }
}
