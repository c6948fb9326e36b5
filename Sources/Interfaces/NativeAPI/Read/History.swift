import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    private static let rangeNames = ["type", "user", "after", "before"]

    /// `GET /v1/channels/{channel}/events`: returns a page of the stored events of a channel.
    func getHistory(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(
            request.query, known: Self.rangeNames + [Parameters.include] + Listing.parameterNames,
            advice: Parameters.filterAdvice)
        var query = try range(parameters)
        if let text = try parameters.text("cursor") { query.cursor = try PageCursor(text: text) }
        query.order = try order(try parameters.word("order"), query.cursor)
        let channel = try readable(request.name("channel"), caller)
        if let cursor = query.cursor { try query.seal(for: channel).check(cursor.list) }
        let page = try await pages(of: [channel], query, caller)[0]
        let chat = service.chat(for: caller)
        let included = try await chat.included(
            with: page.events, chat.inclusion(of: try parameters.included()))
        let body = JSONText(capacity: page.weight) { page.print(to: &$0, with: included) }
        return .json(
            body.bytes,
            headers: Listing.links(to: request, next: page.next?.text, previous: page.previous?.text))
    }

    /// `GET /v1/channels/{channel}/events/count`: returns the number of a channel's stored events in a range of time.
    func getCount(_ request: Request, _ caller: Caller) async throws -> Response {
        let query = try range(try Parameters(request.query, known: Self.rangeNames))
        let channel = try readable(request.name("channel"), caller)
        let counts = try await service.chat(for: caller).counts([query.request(for: channel)])
        return Self.number("count", counts[0])
    }

    /// `DELETE /v1/channels/{channel}/events`: deletes a channel's events in a range of time, or all events with
    /// `?all=true`. Returns the number of deleted events.
    func deleteHistory(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["after", "all", "before"])
        let channel = try readable(request.name("channel"), caller)
        let (after, before) = (try parameters.position("after"), try parameters.position("before"))
        guard try parameters.flag("all") != (after != nil || before != nil) else {
            throw Parameters.bad(
                "all", "must be 'true' to delete every event; leave out 'after' and 'before'", keyword: "required")
        }
        let deleted = try await service.chat(for: caller).deleteEvents(
            after: after ?? .zero, before: before ?? .distantFuture, in: channel.name)
        return Self.number("deleted", deleted)
    }

    private static func number(_ name: StaticString, _ value: Int) -> Response {
        .json(
            JSONText { writer in
                writer.beginObject()
                writer.member(name, value)
                writer.endObject()
            }.bytes)
    }

    /// Reads one page of each of several channels. All pages end at the same watermark (the position up to which the
    /// log is complete).
    func pages(of channels: [ChannelID], _ query: HistoryQuery, _ caller: Caller) async throws -> [HistoryPage] {
        let chat = service.chat(for: caller)
        // The watermark is read before the events. An event that is committed in between is then returned twice instead
        // of being lost.
        let watermark = try await chat.watermark()
        let pages = try await chat.history(channels.map(query.request(for:)))
        return zip(pages, channels).map { HistoryPage($0, of: query, in: $1, watermark: watermark) }
    }

    func range(_ parameters: Parameters) throws(ChatError) -> HistoryQuery {
        let limit = try parameters.pageLimit(limits)
        var query = HistoryQuery(limit: limit)
        query.types = try Self.patterns("type", parameters)
        query.user = try parameters.text("user")
        if let user = query.user { try Names.check(user: user) }
        query.after = try parameters.position("after") ?? .zero
        query.before = try parameters.position("before") ?? .distantFuture
        return query
    }

    func order(_ asked: ListOrder?, _ cursor: PageCursor?) throws(ChatError) -> HistoryRequest.Order {
        guard let asked else { return cursor?.order ?? .oldestFirst }
        let order: HistoryRequest.Order = asked == .ascending ? .oldestFirst : .newestFirst
        guard cursor.map({ $0.order == order }) ?? true else {
            throw ChatError(
                .malformed,
                "the page cursor belongs to a list with the other 'order'; send the 'order' of the first page",
                slug: "bad_cursor",
                field: "cursor")
        }
        return order
    }

    /// The name patterns in a query parameter. The parameter may be repeated.
    static func patterns(_ name: String, _ parameters: Parameters) throws(ChatError) -> [NamePattern] {
        try patterns(parameters.texts(name), of: name)
    }

    /// The type patterns in a body.
    static func types(_ texts: [String]) throws(ChatError) -> [NamePattern] {
        try patterns(texts, of: "type")
    }

    private static func patterns(_ texts: [String], of what: String) throws(ChatError) -> [NamePattern] {
        var patterns: [NamePattern] = []
        for text in texts {
            guard let pattern = NamePattern(text) else {
                throw ChatError(
                    .malformed, "'\(text)' is not a \(what) pattern; send a name, 'a.b.*' or '*'", slug: "bad_pattern",
                    field: what)
            }
            patterns.append(pattern)
        }
        return patterns
    }

    func readable(_ name: String, _ caller: Caller) throws(ChatError) -> ChannelID {
        try Names.check(channel: name)
        return ChannelID(name, in: caller.app)
    }
}
