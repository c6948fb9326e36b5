import ChatModel
import Postgres
import StorageCore

extension QueueTransaction {
    /// Records the outcomes of attempts. Returns for each attempt whether it was recorded. An attempt is not recorded
    /// when its lease or the lane was lost, or when its delivery no longer exists.
    func finish(_ finished: [FinishedAttempts]) async throws(PostgresFailure) -> [[Bool]] {
        let isHeld = finished.map { scheduler.snapshots(of: $0.attempts, $0.keys).map { $0 != nil } }
        var attempts: [(key: DeliveryKey, outcome: DeliveryOutcome)] = []
        for (call, held) in zip(finished, isHeld) {
            for (index, attempt) in call.attempts.enumerated() where held[index] {
                if let key = call.keys[index] { attempts.append((key, attempt.outcome)) }
            }
        }
        let recorded = Set(try await record(attempts))
        return zip(finished, isHeld).map { call, held in
            call.keys.indices.map { index in held[index] && call.keys[index].map { recorded.contains($0) } ?? false }
        }
    }

    /// Records expired leases as failed attempts.
    func expire(_ leases: [ExpiredLease]) async throws(PostgresFailure) {
        _ = try await record(leases.map { ($0.key, .expired($0, now: now)) })
    }

    /// A delivery after an attempt.
    private struct Update: Sendable {
        let key: DeliveryKey
        let outcome: DeliveryOutcome
        let chain: Chain?
        var due: Int64
    }

    /// Records the outcomes of leased deliveries of this node's lanes, and ends their leases. Returns the deliveries
    /// whose attempts were recorded.
    private func record(
        _ attempts: [(key: DeliveryKey, outcome: DeliveryOutcome)]
    ) async throws(PostgresFailure) -> [DeliveryKey] {
        guard !attempts.isEmpty else { return [] }
        let rows = try await run([
            Self.lock(Array(Set(attempts.map(\.key.subscriber)))), Self.history(attempts.map(\.key)),
        ])
        let locked = locked(rows[0])
        let histories = Self.histories(rows[1])
        var updates: [Update] = []
        var logs: [(key: DeliveryKey, bytes: [UInt8])] = []
        var changes: [Int64: Int] = [:]
        for (key, outcome) in attempts {
            guard let lane = locked[key.subscriber], holder(of: lane) == .me, let history = histories[key] else {
                continue
            }
            let outcome = outcome.recorded(after: history.tries, lane.settings, now: now)
            let chain = Chain(lane.settings.ordering, subscriber: key.subscriber, channel: history.channel)
            var log = history.log
            log.append(outcome.attempt)
            logs.append((key, log.packed))
            updates.append(Update(key: key, outcome: outcome, chain: chain, due: outcome.due?.stored ?? 0))
            let change = (outcome.stored == .waiting ? 1 : 0) - (history.isWaiting ? 1 : 0)
            changes[key.subscriber, default: 0] += change
        }
        // A retry of an ordered delivery is due only if the delivery is the first of its chain, which depends on the
        // other attempts.
        let isOrderedRetry = { (update: Update) in update.chain != nil && update.outcome.due != nil }
        later(store(updates.filter { !isOrderedRetry($0) }))
        later(Self.store(logs))
        count(changes)
        var retries = updates.filter(isOrderedRetry)
        if !retries.isEmpty {
            let heads = try await heads(of: Set(retries.compactMap(\.chain)))
            for (index, retry) in retries.enumerated() {
                guard let chain = retry.chain, let head = heads[chain], head.event < retry.key.event else { continue }
                retries[index].due = Chain.inLine
            }
            later(store(retries))
        }
        var endings = Dictionary(attempts.map { ($0.key, DeliveryScheduler.Ending.over) }) { $1 }
        for update in updates where update.outcome.due != nil && !isOrderedRetry(update) {
            endings[update.key] = .due(UInt64(update.due))
        }
        for retry in retries { endings[retry.key] = retry.due == Chain.inLine ? .inLine : .due(UInt64(retry.due)) }
        afterCommit { [scheduler, endings] in scheduler.complete(endings.map { ($0.key, $0.value) }) }
        // The next delivery of a chain can become due only after the leases of the attempts have ended.
        try await advance(Set(updates.compactMap(\.chain)), locked)
        return updates.map(\.key)
    }

    /// The state of a delivery before an attempt.
    private struct History: Sendable {
        let log: AttemptLog
        let tries: Int
        let channel: String
        let isWaiting: Bool
    }

    /// Locks the rows in the order in which every transaction locks several of them, so that none waits for another
    /// that waits for it.
    private static func history(_ keys: [DeliveryKey]) -> Statement {
        Statement(
            """
            SELECT d.tt, d.ep, d.tries, d.channel, d.state, l.bytes
            FROM unnest($1::bigint[], $2::bigint[]) AS k(tt, ep) JOIN delivery d ON d.tt = k.tt AND d.ep = k.ep
            LEFT JOIN attempt_log l ON l.tt = d.tt AND l.ep = d.ep ORDER BY d.tt, d.ep FOR UPDATE OF d
            """, keys.columns)
    }

    private static func histories(_ rows: Rows) -> [DeliveryKey: History] {
        var histories: [DeliveryKey: History] = [:]
        for row in 0..<rows.count {
            histories[rows.deliveryKey(row)] = History(
                log: rows.bytes(row, 5).map { AttemptLog(packed: $0) } ?? AttemptLog(),
                tries: Int(rows.integer(row, 2) ?? 0), channel: rows.text(row, 3) ?? "",
                isWaiting: rows.integer(row, 4) == 0)
        }
        return histories
    }

    /// If the event was deleted during the attempt, its body was deleted too, and no body is stored. The delivery of an
    /// ephemeral event contains the body from the beginning. The lock of the event makes its deletion wait, and then
    /// delete the body.
    private func store(_ updates: [Update]) -> Statement {
        Statement(
            """
            UPDATE delivery d SET state = k.state, due = k.due, tries = d.tries + 1, manual = false, touched = $8,
                reason = k.reason, chain = k.chain, body = CASE WHEN k.body IS NOT NULL AND (d.body IS NOT NULL
                OR EXISTS (SELECT 1 FROM event e WHERE e.tt = d.tt FOR KEY SHARE)) THEN k.body ELSE d.body END
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[], $7::bigint[])
                AS k(tt, ep, state, due, reason, body, chain) WHERE d.tt = k.tt AND d.ep = k.ep
            """,
            updates.map(\.key).columns + [
                .integers(updates.map { Int64($0.outcome.stored.rawValue) }), .integers(updates.map(\.due)),
                .texts(updates.map { $0.outcome.reason?.rawValue }), .byteStrings(updates.map(\.outcome.body)),
                .integers(updates.map { $0.outcome.due == nil ? nil : $0.chain?.number }), .timetoken(now),
            ])
    }

    private static func store(_ logs: [(key: DeliveryKey, bytes: [UInt8])]) -> Statement {
        Statement(
            """
            INSERT INTO attempt_log(tt, ep, bytes)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])
            ON CONFLICT (tt, ep) DO UPDATE SET bytes = excluded.bytes
            """, logs.map(\.key).columns + [.byteStrings(logs.map(\.bytes))])
    }
}

/// The statements that store request bodies before they are sent. A body replaces the delivery's stored body only if
/// that has not changed since the lease began (`Lease.body`). The second statement returns the bodies that are stored
/// afterwards.
func keepStatements(_ bodies: [(lease: Lease, body: [UInt8])], _ keys: [DeliveryKey]) -> [Statement] {
    [
        Statement(
            """
            UPDATE delivery d SET body = k.body
            FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[]) AS k(tt, ep, body, old)
            WHERE d.tt = k.tt AND d.ep = k.ep AND d.body IS NOT DISTINCT FROM k.old
            AND (d.body IS NOT NULL OR EXISTS (SELECT 1 FROM event e WHERE e.tt = d.tt FOR KEY SHARE))
            """,
            keys.columns + [.byteStrings(bodies.map(\.body)), .byteStrings(bodies.map(\.lease.body))]),
        Statement(
            """
            SELECT d.tt, d.ep, d.body FROM unnest($1::bigint[], $2::bigint[]) AS k(tt, ep)
            JOIN delivery d ON d.tt = k.tt AND d.ep = k.ep
            """, keys.columns),
    ]
}
