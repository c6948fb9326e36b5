import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing

/// A page of a list: `{"data": […], "next_cursor": …, "has_more": …}` with a `Link` to the next page.
///
/// Every list takes `limit`, `cursor` and `order`. A list whose elements have a time also takes `after` and `before`. A
/// cursor is valid only with the same values of the other parameters, except `limit`.
struct Listing {
    let list: RecordList

    /// The parameters that select a page of a list.
    static let pageNames = ["limit", "cursor"]
    /// The parameters that every list accepts.
    static let parameterNames = pageNames + ["order"]
    /// The parameters that a list accepts if its elements have a time.
    static let timedNames = parameterNames + ["after", "before"]

    init(_ parameters: Parameters, of request: Request, limits: Limits) throws(ChatError) {
        var list = RecordList(limit: try parameters.pageLimit(limits))
        list.order = try parameters.word("order")
        list.after = try parameters.position("after")
        list.before = try parameters.position("before")
        if let text = try parameters.text("cursor") { list.cursor = try ListCursorCodec(request).opened(text) }
        self.list = list
    }

    var limit: Int { list.limit }
    var cursor: String? { list.cursor }
    var order: ListOrder? { list.order }

    /// The response with a page that the store has selected.
    static func response<Item>(
        _ page: Page<Item>, to request: Request, print: (Item, inout JSONWriter) -> Void
    ) -> Response {
        let next = page.cursor.map { ListCursorCodec(request).sealed($0) }
        var writer = JSONWriter(capacity: page.items.count * 256 + 64)
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        for item in page.items { print(item, &writer) }
        writer.endArray()
        if let next { writer.member("next_cursor", next) } else { writer.nullMember("next_cursor") }
        writer.member("has_more", next != nil)
        if let total = page.total { writer.member("total", total) }
        writer.endObject()
        return .json(writer.bytes, headers: links(to: request, next: next))
    }

    /// Selects the page of a list in memory. The cursor of a page is the id of its last item.
    ///
    /// - Parameters:
    ///   - usual: the order of `items`.
    ///   - time: the time of an item; nil for an item without a time, which no time bound matches.
    func page<Item>(
        of items: [Item], in usual: ListOrder = .ascending, id: (Item) -> String,
        time: (Item) -> Timetoken? = { _ in nil }
    ) throws(ChatError) -> Page<Item> {
        var items = items
        if let after = list.after { items = items.filter { time($0).map { $0 > after } ?? false } }
        if let before = list.before { items = items.filter { time($0).map { $0 < before } ?? false } }
        if order ?? usual != usual { items.reverse() }
        var rest = items[...]
        if let cursor {
            guard let end = rest.firstIndex(where: { id($0) == cursor }) else {
                throw ChatError.foreignCursor
            }
            rest = rest[(end + 1)...]
        }
        let part = Array(rest.prefix(limit))
        let hasMore = rest.count > limit
        return Page(items: part, hasMore: hasMore, cursor: hasMore ? part.last.map(id) : nil)
    }

    /// The `Link` fields (RFC 8288). Each link has the request's query with another cursor.
    static func links(
        to request: Request, next: String?, previous: String? = nil
    ) -> [(name: String, value: String)] {
        let links = [(next, "next"), (previous, "prev")].compactMap { cursor, relation in
            cursor.map { "<\(target(of: request, cursor: $0))>; rel=\"\(relation)\"" }
        }
        return links.isEmpty ? [] : [("Link", links.joined(separator: ", "))]
    }

    private static func target(of request: Request, cursor: String) -> String {
        let query = request.target.dropFirst(request.path.count + 1)
        let kept = query.split(separator: "&").filter { !$0.hasPrefix("cursor=") && $0 != "cursor" }
        let all = kept.map { escaped(String($0)) } + ["cursor=" + escaped(cursor)]
        return escaped(request.path) + "?" + all.joined(separator: "&")
    }

    /// Escapes the characters that would end the link early. Everything else keeps the request's spelling.
    private static func escaped(_ text: String) -> String {
        var output = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": output += "%3C"
            case ">": output += "%3E"
            case "\"": output += "%22"
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }
}

/// Seals and opens the page cursors of one list. A cursor of another list is rejected, because it would select an
/// arbitrary position, and the page would look complete.
struct ListCursorCodec: Equatable {
    /// 48 bits of a digest, which detect a cursor that is sent to the wrong list. They are no protection: a forged
    /// cursor returns only events that the caller may read anyway.
    let digest: String

    /// Creates the codec of a list.
    ///
    /// - Parameter list: the properties that identify the list. They do not depend on the page.
    init(_ list: [String]) {
        // No name and no query item contains NUL, so the joined texts of different lists differ.
        digest = Base64.encodeURL(Array(sha256(Array(list.joined(separator: "\0").utf8)).prefix(6)))
    }

    /// Creates the codec for the list that a request names. The list is identified by the request's path and filters.
    init(_ request: Request) {
        let filters = request.query.items.filter { !Listing.pageNames.contains($0.name) }
        self.init([request.path] + filters.map { $0.name + "=" + $0.value }.sorted())
    }

    func sealed(_ cursor: String) -> String { digest + "." + cursor }

    /// Returns the list's own cursor from a sealed text.
    ///
    /// - Throws: `.malformed`, slug `bad_cursor`, for a text that is not a sealed cursor, or that belongs to another
    ///   list.
    func opened(_ text: String) throws(ChatError) -> String {
        guard Self.hasForm(text) else { throw ChatError.foreignCursor(text) }
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        try check(parts[0])
        return String(parts[1])
    }

    private static let digestLength = 8

    /// Returns true when a text has the form of a sealed cursor: the digest and a dot before the cursor.
    static func hasForm(_ text: String) -> Bool {
        text.utf8.dropFirst(digestLength).first == UInt8(ascii: ".")
            && Base64.decodeURL(String(text.prefix(digestLength))) != nil
    }

    func check(_ other: some StringProtocol) throws(ChatError) {
        guard other == digest else {
            throw ChatError.otherList
        }
    }
}

extension ChatError {
    static let foreignCursor = ChatError(
        .malformed, "the page cursor was not returned by this gateway; send 'next_cursor' of a page unchanged",
        slug: "bad_cursor", field: "cursor")

    fileprivate static let otherList = ChatError(
        .malformed,
        "the page cursor belongs to another list; send it with the same path and parameters as the first page",
        slug: "bad_cursor", field: "cursor")

    /// The error for a text that is not a cursor of this list.
    static func foreignCursor(_ text: String) -> ChatError {
        switch CursorKind(of: text) {
        case .page: otherList
        case .stream:
            ChatError(
                .malformed,
                "the cursor names a position for /v1/stream and /v1/poll, not a page of this list; send the 'next_cursor' "
                    + "of another page",
                slug: "bad_cursor", field: "cursor")
        case nil: foreignCursor
        }
    }
}
