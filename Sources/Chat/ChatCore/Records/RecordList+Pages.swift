public import ChatModel
public import JSON
import Locking

extension RecordList {
    /// The maximum number of records that are examined for one page with a filter or a range of time. A page that
    /// reaches this limit or ``examinedTime`` is partial, and the next request continues at its cursor
    /// (docs/decisions/0017-pages-examine-at-most-10000.md).
    static let examinedMost = 10_000
    /// The maximum time for which records are examined for one page.
    private static let examinedTime: Duration = .seconds(2)
    /// The number of records in one read of the store.
    private static let pageSize = 500

    /// Returns one page of a store query, reduced to the items that this list selects.
    ///
    /// - Parameters:
    ///   - query: the query for the records, in the default order.
    ///   - members: the members that a filter may use; nil for a list without a filter.
    ///   - created: returns the creation time of an item, for `after` and `before`.
    ///   - isKept: a further condition on items; nil accepts every item.
    ///   - show: prints an item in the form that the reader sees, for the filter.
    ///   - read: makes the items from records, in the same order; nil for a record that the reader may not see.
    /// - Returns: a page that may have fewer items than its limit, or none, even when more items follow.
    /// - Throws: `.malformed` with the slug `bad_filter` for an invalid filter; the errors of `read` and of the store.
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

    /// Reads pages of the store until `limit` items are found, ``examinedMost`` records were examined, or
    /// ``examinedTime`` has passed.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of items in the returned page.
    ///   - cursor: the position from which to read; nil for the first page.
    ///   - read: reads one page of the store. Its arguments are a cursor and the maximum number of items. It must return
    ///     a cursor for each item.
    ///   - isAsked: returns true for an item to include.
    /// - Throws: the errors of `read`.
    public static func page<Item: Sendable>(
        limit: Int, from cursor: String?, _ read: @Sendable (String?, Int) async throws(ChatError) -> Page<Item?>,
        _ isAsked: @Sendable (Item) -> Bool
    ) async throws(ChatError) -> Page<Item> {
        let deadline = ContinuousClock.now + examinedTime
        var page = Page<Item>(items: [], cursor: cursor)
        var examined = 0
        repeat {
            let found = try await read(page.cursor, pageSize)
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

    /// Returns the total number of selected items; nil when counting them would examine more than ``examinedMost``
    /// records or take longer than ``examinedTime``.
    private static func count<Item: Sendable>(
        _ read: @Sendable (String?, Int) async throws(ChatError) -> Page<Item?>, _ isAsked: @Sendable (Item) -> Bool
    ) async throws(ChatError) -> Int? {
        let found = try await page(limit: examinedMost + pageSize, from: nil, read, isAsked)
        return found.hasMore ? nil : found.items.count
    }
}
