public import ChatModel
public import JSON
import Locking

extension RecordList {
    /// The bounds of one page that leaves out what a filter or a time does not take: records examined, and time. At either
    /// bound the page is partial, and its cursor is where to continue.
    public static let examinedMost = 10_000
    private static let examinedTime: Duration = .seconds(2)
    /// The number of records that one read of the store requests.
    private static let stretch = 500

    /// A page of what the store lists, without what the list does not ask for.
    ///
    /// - Parameters:
    ///   - query: which records, and in which order where the list names none.
    ///   - members: what a filter may name; nil where the list takes none.
    ///   - created: when an item was made, for the list's times.
    ///   - isKept: what else the list asks for; nil leaves nothing out.
    ///   - show: prints an item as the reader sees it, for the filter.
    ///   - read: makes items of records, in their order; nil for what the reader may not see.
    /// - Returns: a page that may hold less than its limit, or nothing, though more are to come.
    /// - Throws: `.malformed`, slug `bad_filter`; what `read` and the store throw.
    public func page<Item: Sendable>(
        of query: RecordQuery, in directory: any Directory, members: RecordMembers? = nil, limits: Limits,
        created: @escaping @Sendable (Item) -> Timetoken, keeping isKept: (@Sendable (Item) -> Bool)? = nil,
        show: @escaping @Sendable (Item, inout JSONWriter) -> Void = { _, _ in },
        _ read: @escaping @Sendable ([Record]) async throws(ChatError) -> [Item?]
    ) async throws(ChatError) -> Page<Item> {
        var query = query
        if sort.isEmpty, let order {
            for index in query.sort.indices { query.sort[index].ascending = order == .ascending }
        }
        var condition: Filter?
        if let members, let filter {
            condition = try Filter(filter, dialect: .record(members), limits: limits)
        }
        guard condition != nil || after != nil || before != nil || isKept != nil else {
            query.limit = limit
            query.cursor = cursor
            query.wantsTotal = wantsTotal
            let page = try await directory.list(query)
            return Page(
                items: try await read(page.items).compactMap(\.self), hasMore: page.hasMore, cursor: page.cursor,
                total: page.total)
        }
        let isAsked: @Sendable (Item) -> Bool = { [condition] item in
            let made = created(item)
            guard after.map({ made > $0 }) ?? true, before.map({ made < $0 }) ?? true, isKept?(item) ?? true else {
                return false
            }
            return condition?.accepts(FilterSubject(record: JSONText { show(item, &$0) })) ?? true
        }
        let pages: @Sendable (String?, Int) async throws(ChatError) -> Page<Item?> = {
            [query] cursor, limit async throws(ChatError) in
            var query = query
            query.limit = limit
            query.cursor = cursor
            query.wantsCursors = true
            let page = try await directory.list(query)
            var items = Page<Item?>(items: try await read(page.items), hasMore: page.hasMore, cursor: page.cursor)
            items.cursors = page.cursors
            return items
        }
        return try await asLongWork { () async throws(ChatError) in
            var page = try await Self.page(limit: limit, from: cursor, pages, isAsked)
            if wantsTotal { page.total = try await Self.count(pages, isAsked) }
            return page
        }
    }

    /// Walks a store's pages until enough is found, or enough was looked at.
    ///
    /// - Parameters:
    ///   - read: a page of the store behind a cursor, of so many, with a cursor behind each item.
    public static func page<Item: Sendable>(
        limit: Int, from cursor: String?, _ read: @Sendable (String?, Int) async throws(ChatError) -> Page<Item?>,
        _ isAsked: @Sendable (Item) -> Bool
    ) async throws(ChatError) -> Page<Item> {
        let deadline = ContinuousClock.now + examinedTime
        var page = Page<Item>(items: [], cursor: cursor)
        var examined = 0
        repeat {
            let found = try await read(page.cursor, stretch)
            examined += found.items.count
            for (index, item) in found.items.enumerated() {
                guard let item, isAsked(item) else { continue }
                page.items.append(item)
                guard page.items.count < limit else {
                    page.hasMore = found.hasMore || index < found.items.count - 1
                    page.cursor = page.hasMore ? found.cursors[index] : nil
                    return page
                }
            }
            page.hasMore = found.hasMore
            page.cursor = found.cursor
        } while page.hasMore && examined < examinedMost && !Task.isCancelled && ContinuousClock.now < deadline
        return page
    }

    /// How many there are in all; nil when they are more than may be looked at.
    private static func count<Item: Sendable>(
        _ read: @Sendable (String?, Int) async throws(ChatError) -> Page<Item?>, _ isAsked: @Sendable (Item) -> Bool
    ) async throws(ChatError) -> Int? {
        let found = try await page(limit: examinedMost + stretch, from: nil, read, isAsked)
        return found.hasMore ? nil : found.items.count
    }
}
