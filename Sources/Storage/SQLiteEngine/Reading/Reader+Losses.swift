import ChatModel
import SQLite

/// A question of a reader that resumes far back: whether retention has ended something that it has not had.
struct LossQuery: Sendable {
    let channels: ChannelSet
    let types: [NamePattern]
    let after: Timetoken
    /// Up to here what is hidden has been removed.
    let swept: Timetoken
    /// Up to here everything is hidden.
    let hidden: Timetoken
    let now: Timetoken
}

struct LossStatements {
    let ofChannel: Statement
    let ofApp: Statement
    let expired: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        ofChannel = try database.prepare("SELECT tt, type FROM loss WHERE ch=?1 AND tt > ?2")
        ofApp = try database.prepare("SELECT tt, type, ch FROM loss WHERE app=?1 AND tt > ?2 ORDER BY tt DESC")
        expired = try database.prepare(
            """
            SELECT tt, type, ch FROM event INDEXED BY event_expires
            WHERE expires IS NOT NULL AND expires <= ?1 AND tt > ?2 AND by_type IS NOT NULL AND origin IS NOT ''
            """)
    }
}

extension Reader {
    /// Rows looked at before the answer is that something may be lost.
    private static let lookedAt = 20_000

    /// The newest event between the bounds that retention has ended, of these channels and types; nil when there is none.
    func newestLoss(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let found = try [removed(question), expired(question), hidden(question)]
        return found.compactMap(\.self).max()
    }

    private func removed(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let channels = question.channels
        if !channels.isAll, channels.prefixes.isEmpty {
            var newest: Timetoken?
            for name in channels.names {
                guard let id = try names.id(of: ChannelID(name.text, in: channels.app)) else { continue }
                let find = statements.losses.ofChannel
                find.bind(id, at: 1)
                find.bind(Int64(question.after.rawValue), at: 2)
                try find.forEachRow { (row) throws(SQLiteFailure) in
                    if try isOfType(row, question) { newest = max(newest ?? .zero, Timetoken(UInt64(row.integer(0)))) }
                    return true
                }
            }
            return newest
        }
        guard let app = try names.id(of: channels.app) else { return nil }
        let find = statements.losses.ofApp
        find.bind(app, at: 1)
        find.bind(Int64(question.after.rawValue), at: 2)
        return try newest(find, question, isNewestFirst: true)
    }

    /// The newest event past the retention of its type that has not been removed yet.
    private func expired(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let find = statements.losses.expired
        find.bind(Int64(question.now.rawValue), at: 1)
        find.bind(Int64(question.after.rawValue), at: 2)
        return try newest(find, question, isNewestFirst: false)
    }

    private func newest(
        _ find: Statement, _ question: LossQuery, isNewestFirst: Bool
    ) throws(SQLiteFailure) -> Timetoken? {
        var newest: Timetoken?
        var seen = 0
        try find.forEachRow { (row) throws(SQLiteFailure) in
            let timetoken = Timetoken(UInt64(row.integer(0)))
            let isOfType = try isOfType(row, question)
            let channel = try names.channel(row.integer(2))
            let isLost = isOfType && question.channels.contains(channel)
            seen += 1
            if isLost || seen == Self.lookedAt { newest = max(newest ?? .zero, timetoken) }
            return seen < Self.lookedAt && !(isNewestFirst && isLost)
        }
        return newest
    }

    /// The end of what the app's retention hides, when an event of these channels and types has not been removed yet.
    private func hidden(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let start = max(question.after, question.swept)
        guard question.hidden > start else { return nil }
        let page = try events(
            EventsQuery(channels: question.channels, after: start, upTo: question.hidden, limit: 250, now: .zero))
        let isLost = page.hasMore || page.items.contains { event in question.types.contains { $0.matches(event.type) } }
        return isLost ? question.hidden : nil
    }

    private func isOfType(_ row: Statement, _ question: LossQuery) throws(SQLiteFailure) -> Bool {
        let type = try names.type(row.integer(1))
        return question.types.contains { $0.matches(type) }
    }
}
