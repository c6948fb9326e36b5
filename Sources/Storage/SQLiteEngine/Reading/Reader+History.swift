import ChatModel
import SQLite

extension Reader {
    /// The maximum number of rows scanned for one page. If the filter matches nothing in these rows, the page is empty
    /// and contains the position that the scan has reached.
    private static let historyMost = 20_000

    /// Returns a page of one channel's stored events.
    ///
    /// - Parameter cutoff: the position up to which events are hidden by retention.
    func history(_ request: HistoryRequest, now: Timetoken, cutoff: Timetoken) throws(SQLiteFailure) -> Page<Event> {
        var page = Page<Event>(items: [])
        guard let channel = try names.id(of: request.channel) else { return page }
        var rowFilter = RowFilter(request, now: now)
        let rows = rows(of: request)
        bind(rows, channel, request, cutoff)
        var seen = 0
        try rows.forEachRow { (row) throws(SQLiteFailure) in
            guard page.items.count < request.limit, seen < Self.historyMost else {
                page.hasMore = true
                return false
            }
            seen += 1
            page.position = Timetoken(UInt64(row.integer(0)))
            if try rowFilter.admits(row, names) { page.items.append(try EventRow.read(row, names)) }
            return true
        }
        return page
    }

    /// Returns the number of events that ``history(_:now:cutoff:)`` would return without a limit, but at most
    /// `countMost`.
    func count(_ request: HistoryRequest, now: Timetoken, cutoff: Timetoken) throws(SQLiteFailure) -> Int {
        guard let channel = try names.id(of: request.channel) else { return 0 }
        if request.thread == .none { return try countBesideThreads(request, now: now, cutoff: cutoff) }
        let rowFilter = RowFilter(request, now: now)
        guard rowFilter.isOfKindsAlone, request.thread == .any else {
            var upward = request
            upward.order = .oldestFirst
            return try count(rows(of: upward), channel, request, rowFilter, cutoff)
        }
        // The count reads only the index. Expired events that are not removed yet are subtracted. They are few and have
        // their own index.
        let kinds = request.kinds.isEmpty ? -1 : request.kinds.reduce(Int64(0)) { $0 | 1 << Int64($1.rawValue) }
        bind(statements.countExpired, channel, request, cutoff)
        statements.countExpired.bind(kinds, at: 4)
        statements.countExpired.bind(Int64(now.rawValue), at: 5)
        let expired = try statements.countExpired.firstInteger() ?? 0
        bind(statements.count, channel, request, cutoff)
        statements.count.bind(kinds, at: 4)
        statements.count.bind(min(Int64(request.countMost), .max - expired) + expired, at: 5)
        return min(Int((try statements.count.firstInteger() ?? 0) - expired), request.countMost)
    }

    /// Counts the events that are not replies in threads: subtracts the number of replies from the number of all
    /// events. Replies are few and have an index.
    private func countBesideThreads(
        _ request: HistoryRequest, now: Timetoken, cutoff: Timetoken
    ) throws(SQLiteFailure) -> Int {
        guard let channel = try names.id(of: request.channel) else { return 0 }
        var all = request
        all.thread = .any
        all.countMost = .max
        let replies = try count(statements.replies, channel, all, RowFilter(all, now: now), cutoff)
        all.countMost = request.countMost > .max - replies ? .max : request.countMost + replies
        return min(try count(all, now: now, cutoff: cutoff) - replies, request.countMost)
    }

    private func count(
        _ rows: Statement, _ channel: Int64, _ request: HistoryRequest, _ rowFilter: RowFilter, _ cutoff: Timetoken
    ) throws(SQLiteFailure) -> Int {
        var (rowFilter, found) = (rowFilter, 0)
        bind(rows, channel, request, cutoff)
        try rows.forEachRow { (row) throws(SQLiteFailure) in
            if try rowFilter.admits(row, names) { found += 1 }
            return found < request.countMost
        }
        return found
    }

    private func rows(of request: HistoryRequest) -> Statement {
        guard case .of(let root) = request.thread else {
            return request.order == .oldestFirst ? statements.historyUp : statements.historyDown
        }
        let rows = request.order == .oldestFirst ? statements.threadUp : statements.threadDown
        rows.bind(Int64(clamping: root.rawValue), at: 4)
        return rows
    }

    private func bind(_ rows: Statement, _ channel: Int64, _ request: HistoryRequest, _ cutoff: Timetoken) {
        rows.bind(channel, at: 1)
        rows.bind(Int64(clamping: max(request.after, cutoff).rawValue), at: 2)
        rows.bind(Int64(clamping: request.before.rawValue), at: 3)
    }
}

/// The conditions of a request that no index covers. They are checked on a row before the whole row is read.
private struct RowFilter {
    private let kinds: Set<EventKind>
    private let typesOfAnyKind: Set<String>
    private let types: [NamePattern]
    private let user: [UInt8]?
    private let isOutsideThreads: Bool
    private let now: Timetoken
    /// A cache that contains, for each event type, whether the type matches the patterns.
    private var verdicts: [Int64: Bool] = [:]
    /// For each event type seen so far: true when its events are included regardless of their kind.
    private var isOfAnyKind: [Int64: Bool] = [:]

    init(_ request: HistoryRequest, now: Timetoken) {
        kinds = request.kinds
        typesOfAnyKind = request.typesOfAnyKind
        types = request.types
        user = request.user.map { Array($0.utf8) }
        isOutsideThreads = request.thread == .none
        self.now = now
    }

    /// True when only expiry and kind are checked.
    var isOfKindsAlone: Bool { types.isEmpty && typesOfAnyKind.isEmpty && user == nil }

    mutating func admits(_ row: Statement, _ names: NameTable) throws(SQLiteFailure) -> Bool {
        if let expires = row.optionalInteger(7), UInt64(expires) <= now.rawValue { return false }
        if !kinds.isEmpty, !kinds.contains(where: { $0.rawValue == row.integer(2) }) {
            guard try isOfAnyKind(row.integer(3), names) else { return false }
        }
        if isOutsideThreads, !row.isNull(17) { return false }
        if let user, !row.withBytes(4, { $0.elementsEqual(user) }) { return false }
        guard !types.isEmpty else { return true }
        let type = row.integer(3)
        if let verdict = verdicts[type] { return verdict }
        let verdict = types.match(try names.type(type))
        verdicts[type] = verdict
        return verdict
    }

    private mutating func isOfAnyKind(_ type: Int64, _ names: NameTable) throws(SQLiteFailure) -> Bool {
        if typesOfAnyKind.isEmpty { return false }
        if let known = isOfAnyKind[type] { return known }
        let isIncluded = typesOfAnyKind.contains(try names.type(type))
        isOfAnyKind[type] = isIncluded
        return isIncluded
    }
}
