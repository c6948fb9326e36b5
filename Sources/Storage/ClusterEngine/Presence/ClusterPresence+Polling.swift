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
        try await learn(beginningWith: rows[3])
        guard watch.poll(at: uptime) else { return [] }
        return (0..<rows[2].count).compactMap { rows[2].integer($0, 0) }
    }

    /// Learns what other nodes have changed in the rows of this node, up to now.
    func learn() async throws(ChatError) {
        try await learn(beginningWith: try await write([PresenceStatements.news(node, limit: Self.stepsMost)])[0])
    }

    private func learn(beginningWith first: Rows) async throws(ChatError) {
        var news = first
        try await apply(news)
        while news.count == Self.stepsMost {
            news = try await write([PresenceStatements.news(node, limit: Self.stepsMost)])[0]
            try await apply(news)
        }
        unconfirmed = []
    }

    /// Changes memory before the rows. If the rows then remain, they are read again, which has no further effect.
    private func apply(_ news: Rows) async throws(ChatError) {
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
        keep(states)
        // A key with pending steps was held again after the user had left.
        let waiting = Set(pending.map(\.presenceKey))
        let gone = ended.filter { !waiting.contains($0) }
        let left = gone.filter { !unconfirmed.contains($0) }
        pending += gone.filter { unconfirmed.contains($0) && isTaken($0) }.map { .enter($0) }
        let now = uptime
        memory.withLock { _ = $0.leave(left, now: now) }
        try await write(PresenceStatements.takeNews(node, ended: ended, states: states))
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
