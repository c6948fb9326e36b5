import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// The maximum total number of events in the response to one `POST /v1/history`. With the largest payloads, the
    /// response is as large as ten pages of one channel. If a request names many channels, the default limit of each is
    /// lower.
    static let historyEvents = 2500

    private static let historyMembers = ["channels", "types", "user", "after", "before", "order", "limit"]

    /// `POST /v1/history`: returns the first page of each of several channels.
    func postHistory(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: Self.historyMembers)
        let names = try fields.required("channels", try fields.strings("channels"))
        guard (1...limits.streamChannels).contains(names.count), !names.hasRepeats else {
            throw fields.fault("channels", "items", "must name 1 to \(limits.streamChannels) different channels")
        }
        var channels: [ChannelID] = []
        for name in names { channels.append(try readable(name, caller)) }
        let pages = try await pages(of: channels, try query(fields, channels: channels.count), caller)
        let weight = pages.reduce(32) { $0 + $1.weight }
        return .json(Self.printed(zip(channels, pages), weight))
    }

    private func query(_ fields: Fields, channels: Int) throws(ChatError) -> HistoryQuery {
        let most = max(1, min(limits.pageMost, Self.historyEvents / channels))
        let limit = try fields.integer("limit", in: 1...limits.pageMost) ?? min(limits.pageDefault, most)
        guard limit <= most else {
            throw fields.fault(
                "limit", "range",
                "must be at most \(most) for \(channels) channels, because a response has at most \(Self.historyEvents) events"
            )
        }
        var query = HistoryQuery(limit: limit)
        query.types = try Self.types(try fields.strings("types") ?? [])
        query.user = try fields.string("user")
        if let user = query.user { try Names.check(user: user) }
        query.after = try fields.position("after") ?? .zero
        query.before = try fields.position("before") ?? .distantFuture
        if let word = try fields.string("order") {
            guard let order = HistoryRequest.Order(word: word) else {
                throw fields.fault("order", "enum", "must be 'asc' or 'desc'")
            }
            query.order = order
        }
        return query
    }

    private static func printed(_ pages: some Sequence<(ChannelID, HistoryPage)>, _ weight: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: weight)
        writer.beginObject()
        writer.key("channels")
        writer.beginObject()
        for (channel, page) in pages {
            writer.key(text: channel.name)
            page.print(to: &writer)
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}
