import ChatModel
import ChatPresence
import JSON
import Locking
import Postgres

extension ClusterPresence {
    /// The maximum number of transactions in one removal of a dead node's keys. The next round continues.
    private static let sweepsMost = 20

    /// Learns what other nodes have changed. Returns the dead nodes. If the rows of this node are lost, registers it
    /// again.
    func poll() async throws(ChatError) -> [Int64] {
        let rows = try await write(PresenceStatements.poll(node, limit: Self.stepsMost))
        guard rows[0].count > 0, rows[0].integer(0, 0) == epoch, rows[1].count > 0 else {
            try await register()
            return []
        }
        try await apply(news: rows[3])
        // Rows beyond the limit may concern recent connections, too.
        if rows[3].count < Self.stepsMost { recentHolds = [:] }
        guard watch.poll(at: uptime) else { return [] }
        return (0..<rows[2].count).compactMap { rows[2].integer($0, 0) }
    }

    private func apply(news: Rows) async throws(ChatError) {
        guard news.count > 0 else { return }
        var ended: [PresenceKey] = []
        var states: [(PresenceKey, JSONText?)] = []
        for row in 0..<news.count {
            guard let key = news.presenceKey(row) else { continue }
            switch PresenceNews(rawValue: news.integer(row, 4) ?? 0) {
            case .ended: ended.append(key)
            case .state: states.append((key, news.state(row, 5)))
            case nil: break
            }
        }
        try await write(PresenceStatements.takeNews(node, ended: ended, states: states))
        keep(states)
        // A key with pending steps was held again after the user had left.
        let waiting = Set(pending.map(\.presenceKey))
        leaveElsewhere(ended.filter { !waiting.contains($0) })
    }

    /// Ends entries in memory whose users left on another node. A connection that began since the last poll holds the
    /// key again, because it may have begun after that.
    private func leaveElsewhere(_ keys: [PresenceKey]) {
        let (now, gone) = (uptime, Set(keys))
        let changes = memory.withLock { table in
            _ = table.leave(keys, now: now)
            return recentHolds.flatMap { holder, hold in
                let again = hold.keys.filter { gone.contains($0) }
                return again.isEmpty ? [] : (try? table.hold(again, of: hold.user, by: holder)) ?? []
            }
        }
        add(changes)
    }

    /// Adds the entries of open channels that users with a connection to this node have entered on other nodes, so that
    /// these entries last as long as the connection. Looks for new entries, and for the entries of users whose
    /// connection is new.
    func adoptParticipants() async throws(ChatError) {
        let users = Array(newUsers)
        for start in stride(from: 0, to: users.count, by: Self.stepsMost) {
            let part = Array(users[start..<min(start + Self.stepsMost, users.count)])
            try await adopt(try await write([PresenceStatements.participants(part)])[0])
            newUsers.subtract(part)
        }
        while true {
            let known = participantsKnown
            let rows = try await write(
                PresenceStatements.participants(enteredAfter: known, elsewhereThan: node, limit: Self.stepsMost))
            try await adopt(rows[1])
            guard rows[1].count == Self.stepsMost else {
                participantsKnown = max(known, (rows[0].integer(0, 0) ?? 0) - PresenceStatements.openMost)
                return
            }
            participantsKnown = rows[1].integer(rows[1].count - 1, 4) ?? 0
        }
    }

    private func adopt(_ rows: Rows) async throws(ChatError) {
        let keys = memory.withLock { table in
            Set((0..<rows.count).compactMap { rows.presenceKey($0) })
                .filter { table.isConnected($0.owner) && !table.isTaken($0) }
        }
        guard !keys.isEmpty else { return }
        _ = try await commit(keys.map { .adopt($0) })
    }

    /// Ends what a dead node held.
    func sweep(_ dead: Int64) async throws(ChatError) {
        for _ in 0..<Self.sweepsMost {
            let rows = try await write(PresenceStatements.sweep(dead, limit: Self.stepsMost))
            let keys = (0..<rows[1].count).compactMap { rows[1].presenceKey($0) }
            guard !keys.isEmpty else { break }
            let steps = keys.map { PresenceStep.end($0, node: dead, .timedOut) }
            guard try await commit(steps, sweeping: dead) != nil else { return }
        }
        try await write([PresenceStatements.forget(dead)])
    }
}
