import ChatModel
import JSON
import Postgres

/// Reads ask PostgreSQL, so that all nodes agree.
extension ClusterPresence {
    private static let isPresent = "news <> \(PresenceNews.ended.rawValue)"

    nonisolated func occupants(
        of presenceScope: PresenceScope, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy {
        let scope = PresenceStatements.parameters(presenceScope)
        let isAscending = order == .ascending
        let count = Statement(
            "SELECT users FROM presence_scope WHERE app = $1 AND kind = $2 AND channel = $3", scope)
        let bound = user == nil ? "" : "AND member \(isAscending ? ">" : "<") $5"
        let page = Statement(
            """
            SELECT DISTINCT ON (member) member, state FROM presence
            WHERE app = $1 AND kind = $2 AND channel = $3 AND \(Self.isPresent) \(bound)
            ORDER BY member \(isAscending ? "ASC" : "DESC") LIMIT $4
            """, scope + [.integer(Int64(limit) + 1)] + (user.map { [.text($0)] } ?? []))
        let rows = try await asking { () throws(StoreFailure) in
            try await reads.snapshot([count] + (limit > 0 ? [page] : []))
        }
        let users = rows[0].count > 0 ? Int(rows[0].integer(0, 0) ?? 0) : 0
        guard limit > 0 else { return Occupancy(count: users, hasMore: users > 0) }
        let occupants = (0..<min(rows[1].count, limit)).map { row in
            Occupancy.Occupant(user: rows[1].text(row, 0) ?? "", state: rows[1].state(row, 1))
        }
        return Occupancy(count: users, occupants: occupants, hasMore: rows[1].count > limit)
    }

    nonisolated func occupant(_ presenceKey: PresenceKey) async throws(ChatError) -> Occupancy.Occupant? {
        let rows = try await asking { () throws(StoreFailure) in
            try await reads.run([PresenceStatements.holdings([presenceKey])])[0]
        }
        return rows.count > 0 ? Occupancy.Occupant(user: presenceKey.user, state: rows.state(0, 5)) : nil
    }

    nonisolated func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int] {
        guard !presenceScopes.isEmpty else { return [] }
        let rows = try await asking { () throws(StoreFailure) in
            try await reads.run([PresenceStatements.counts(Array(Set(presenceScopes)))])[0]
        }
        let counts = rows.counts
        return presenceScopes.map { counts[$0] ?? 0 }
    }

    /// The number of channels that are read at once.
    private static let stride = 1000

    nonisolated func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)] {
        var found: [(ChannelID, count: Int)] = []
        var last = ""
        while found.count < limit {
            let statement = Statement(
                """
                SELECT channel, users FROM presence_scope WHERE app = $1 AND kind = $2 AND channel > $3
                ORDER BY channel LIMIT \(Self.stride)
                """, [.text(app.name), .integer(kind.number), .text(last)])
            let rows = try await asking { () throws(StoreFailure) in try await reads.run([statement])[0] }
            for row in 0..<rows.count {
                last = rows.text(row, 0) ?? ""
                let channel = ChannelID(last, in: app)
                if isWanted(channel) { found.append((channel, count: Int(rows.integer(row, 1) ?? 0))) }
            }
            if rows.count < Self.stride { break }
        }
        return Array(found.prefix(limit))
    }

    nonisolated func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID] {
        let statement = Statement(
            """
            SELECT DISTINCT channel FROM presence
            WHERE app = $1 AND kind = $2 AND member = $3 AND \(Self.isPresent) ORDER BY channel
            """, [.text(user.app.name), .integer(kind.number), .text(user.name)])
        let rows = try await asking { () throws(StoreFailure) in try await reads.run([statement])[0] }
        return (0..<rows.count).map { ChannelID(rows.text($0, 0) ?? "", in: user.app) }
    }
}
