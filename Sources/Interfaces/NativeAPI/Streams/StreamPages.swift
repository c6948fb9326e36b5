import ChatCore
import ChatModel
import JSON

/// A stream or session as the API returns it, with the values by which a list is ordered.
struct ListItem: Sendable {
    var id: String
    var opened: Timetoken
    var json: JSONText
}

/// The part of a list that one node holds.
struct ListPart: Sendable {
    var items: [ListItem]
    /// True when the node has more items behind these.
    var hasMore: Bool

    init(items: [ListItem], hasMore: Bool) {
        self.items = items
        self.hasMore = hasMore
    }

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("more", hasMore)
            writer.key("items")
            writer.beginArray()
            for item in items {
                writer.beginObject()
                writer.member("id", item.id)
                writer.member("opened", item.opened.description)
                writer.member("item", item.json)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
    }

    /// Parses the JSON that ``json`` prints; nil for another text.
    init?(_ text: JSONText) {
        guard let root = try? JSONDocument(text).root, let hasMore = root["more"]?.boolean,
            let values = root["items"]?.elements, let texts = text.rawMember("items")?.rawElements(),
            values.count == texts.count
        else { return nil }
        self.init(
            items: zip(values, texts).compactMap { value, text in
                guard let id = value["id"]?.string, let json = text.rawMember("item"),
                    let opened = value["opened"]?.string.flatMap({ Timetoken(text: $0) })
                else { return nil }
                return ListItem(id: id, opened: opened, json: json)
            }, hasMore: hasMore)
    }
}

/// A request for a part of the list of streams. Every node gets the same query.
struct StreamListQuery: Sendable {
    var list: RecordList
    var caller: Caller

    /// The name of the query in calls between nodes.
    static let callName = "streams"

    init(_ list: RecordList, by caller: Caller) { (self.list, self.caller) = (list, caller) }

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("caller", caller.json)
            writer.member("limit", list.limit)
            if let cursor = list.cursor { writer.member("cursor", cursor) }
            if let order = list.order { writer.member("order", order.rawValue) }
            if let after = list.after { writer.member("after", after.description) }
            if let before = list.before { writer.member("before", before.description) }
            writer.endObject()
        }
    }

    /// Parses the JSON that ``json`` prints; nil for another value.
    init?(_ value: JSONValue) {
        guard let caller = Caller(value["caller"]), let limit = value["limit"]?.integer else { return nil }
        list = RecordList(limit: Int(limit), cursor: value["cursor"]?.string)
        list.order = value["order"]?.string.flatMap(ListOrder.init(rawValue:))
        list.after = value["after"]?.string.flatMap { Timetoken(text: $0) }
        list.before = value["before"]?.string.flatMap { Timetoken(text: $0) }
        self.caller = caller
    }
}

/// The position behind a page of the list of streams: for each node, the last stream on this or an earlier page. A node
/// without a stream on these pages has no entry, because all its streams follow.
struct StreamListCursor: Sendable {
    private(set) var last: [Int64: String] = [:]

    /// Parses a cursor. The first page has none.
    ///
    /// - Throws: `.malformed` for a text that is not such a cursor.
    init(_ text: String?) throws(ChatError) {
        for id in text?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let node = StreamIDs.node(of: String(id)) else { throw ChatError.foreignCursor }
            last[node] = String(id)
        }
    }

    mutating func advance(_ node: Int64, to id: String) { last[node] = id }

    var text: String { last.sorted { $0.key < $1.key }.map(\.value).joined(separator: ",") }
}

extension LiveStreams {
    /// One page of the streams of all nodes that the caller may see, in the order in which they were opened unless the
    /// list requests another order.
    ///
    /// - Throws: `.malformed` for a cursor of another list.
    nonisolated func page(_ query: StreamListQuery) async throws(ChatError) -> Page<ListItem> {
        let own = try await part(query)
        let others = try await service.nodes.callAll(StreamListQuery.callName, query.json, for: query.caller.app)
        let parts =
            [(node: service.nodes.node, part: own)]
            + others.all.compactMap { node, answer in ListPart(answer).map { (node: node, part: $0) } }
        var cursor = try StreamListCursor(query.list.cursor)
        let order = query.list.order ?? .ascending
        var rest = parts.map { $0.part.items[...] }
        var items: [ListItem] = []
        while items.count < query.list.limit {
            // Each part is in order, so the next item is the first of a part.
            let heads = rest.indices.filter { !rest[$0].isEmpty }
            let next = heads.min { left, right in
                let (one, other) = order == .ascending ? (left, right) : (right, left)
                return (rest[one].first?.opened ?? .zero, parts[one].node)
                    < (rest[other].first?.opened ?? .zero, parts[other].node)
            }
            guard let next, let item = rest[next].popFirst() else { break }
            items.append(item)
            cursor.advance(parts[next].node, to: item.id)
        }
        let hasMore = rest.contains { !$0.isEmpty } || parts.contains { $0.part.hasMore }
        return Page(items: items, hasMore: hasMore, cursor: hasMore ? cursor.text : nil)
    }

    /// The part of a page that this node holds.
    ///
    /// - Throws: `.malformed` for a cursor of another list.
    func part(_ query: StreamListQuery) async throws(ChatError) -> ListPart {
        var start: UInt64?
        if let id = try StreamListCursor(query.list.cursor).last[service.nodes.node] {
            guard let sequence = sequence(of: id) else { throw ChatError.foreignCursor }
            start = sequence
        }
        let (reports, last) = await list(query.list, behind: start, for: query.caller)
        return ListPart(
            items: reports.map { ListItem(id: $0.id, opened: $0.opened, json: $0.json) }, hasMore: last != nil)
    }
}
