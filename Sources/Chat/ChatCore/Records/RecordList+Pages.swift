public import ChatModel
public import JSON
import Locking

extension RecordList {
    /// The limits of one page that a filter or a time reduces: records examined, and time spent. At either limit the
    /// page is partial, and its cursor is where to continue (docs/decisions/0017-pages-examine-at-most-10000.md).
    static let examinedMost = 10_000
    private static let examinedTime: Duration = .seconds(2)
    /// The number of records that one read of the store requests.
    private static let pageSize = 500

    /// A page of a store query, reduced to what the list requests.
    ///
    /// - Parameters:
    ///   - query: the records, with the default order.
    ///   - members: the names that a filter may use; nil when the list accepts no filter.
    ///   - created: the time at which an item was made, for the list's times.
    ///   - isKept: a further condition; nil accepts every item.
    ///   - show: prints an item as the reader sees it, for the filter.
    ///   - read: makes items of records, in their order; nil for a record that the reader may not see.
    /// - Returns: a page that may contain less than its limit, or nothing, although more follow.
    /// - Throws: `.malformed`, slug `bad_filter`, for a filter that cannot be read; the errors of `read` and of the
    ///   store.
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

    /// Reads pages of the store until enough items are found or a limit is reached.
    ///
    /// - Parameters:
    ///   - read: reads a page of the store after a cursor, with a limit and with a cursor after each item.
    /// - Throws: the error of `read`.
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

    /// The total number of matches; nil when more records would have to be examined than the limit allows.
    private static func count<Item: Sendable>(
        _ read: @Sendable (String?, Int) async throws(ChatError) -> Page<Item?>, _ isAsked: @Sendable (Item) -> Bool
    ) async throws(ChatError) -> Int? {
        let found = try await page(limit: examinedMost + pageSize, from: nil, read, isAsked)
        return found.hasMore ? nil : found.items.count
    }
}
