import ChatCore
import ChatModel
import HTTPServer
import JSON

extension PubNubAPI {
    /// `GET /v3/history/sub-key/{s}/channel/{C}`: the newest messages of one channel or several, each oldest first.
    func getHistory(_ request: WireRequest) async throws -> Response {
        let keyset = try Keyset(request.segment(3), service)
        let channels = try readable(try request.names(5))
        let wanted = try FetchRequest(request, channelCount: channels.count, limits)
        let chat = chat(keyset, for: request)
        var pages: [(channel: String, events: [Event])] = []
        for channel in channels {
            let events = try await fetch(wanted, ChannelID(channel, in: keyset.space), chat)
            if !events.isEmpty { pages.append((channel, events)) }
        }
        return .wire(wanted.print(pages).bytes)
    }

    /// The channels of a history call: names only, as many as the wire allows.
    func readable(_ names: [String]) throws -> [String] {
        guard (1...limits.streamChannels).contains(names.count) else { throw WireError.unreadable }
        for name in names {
            try Names.check(channel: name)
            guard name != ChannelID.systemName else { throw WireError.unreadable }
        }
        return names
    }

    /// Reads on until there is enough of what this wire shows; a page or two, as it shows nearly all of these kinds.
    private func fetch(
        _ wanted: FetchRequest, _ channel: ChannelID, _ chat: ChatAccess
    ) async throws(ChatError) -> [Event] {
        var query = wanted.request(for: channel)
        var found: [Event] = []
        while true {
            let page = try await chat.history([query])[0]
            found += page.items.filter { ShownPayload.shows($0) }
            guard page.hasMore, found.count < wanted.limit, let last = page.items.last else { break }
            switch query.order {
            case .newestFirst: query.before = last.timetoken
            case .oldestFirst: query.after = last.timetoken
            }
        }
        let events = found.prefix(wanted.limit)
        return query.order == .newestFirst ? events.reversed() : Array(events)
    }
}

/// What a history call asks for, and how its items are shown.
struct FetchRequest {
    private static let ofOne = 100
    private static let ofSeveral = 25

    let limit: Int
    private var after = Timetoken.zero
    private var before = Timetoken.distantFuture
    private var order = HistoryRequest.Order.newestFirst
    private let showsMeta: Bool
    private let showsUser: Bool
    private let showsKind: Bool
    private let showsLabel: Bool
    private let encodesNames: Bool

    /// `start` is the newer bound, exclusive, and `end` the older one, inclusive; the other way round they ask for the
    /// oldest messages after `start` up to `end`, as `reverse` does.
    init(_ request: WireRequest, channelCount: Int, _ limits: Limits) throws(WireError) {
        let most = channelCount == 1 ? Self.ofOne : Self.ofSeveral
        guard let asked = Int(request["max"] ?? "0"), asked >= 0 else { throw .unreadable }
        limit = min(asked == 0 ? most : min(asked, most), limits.pageMost)
        let start = try request.timetoken("start")
        let end = try request.timetoken("end")
        let isTurned = if let start, let end { start < end } else { false }
        if request.flag("reverse") || isTurned {
            order = .oldestFirst
            after = start ?? .zero
            before = end?.after ?? .distantFuture
        } else {
            before = start ?? .distantFuture
            after = end?.before ?? .zero
        }
        showsMeta = request.flag("include_meta")
        showsUser = request.flag("include_uuid")
        showsKind = request.flag("include_message_type")
        showsLabel = request.flag("include_custom_message_type")
        encodesNames = request.flag("encode_channels", default: true)
    }

    func request(for channel: ChannelID) -> HistoryRequest {
        var request = HistoryRequest(channel: channel, after: after, before: before, order: order, limit: limit)
        request.kinds = Self.kinds
        return request
    }

    /// What this wire stores: never signals, presence, and what becomes of records and messages.
    static let kinds: Set<EventKind> = [.message, .file]

    func print(_ pages: [(channel: String, events: [Event])]) -> JSONText {
        JSONText(capacity: 256 + pages.reduce(0) { $0 + $1.events.count * 256 }) { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.member("error", false)
            writer.member("error_message", "")
            writer.key("channels")
            writer.beginObject()
            for (channel, events) in pages {
                writer.key(text: encodesNames ? PercentName.encode(channel) : channel)
                writer.beginArray()
                for event in events { print(event, to: &writer) }
                writer.endArray()
            }
            writer.endObject()
            writer.endObject()
        }
    }

    private func print(_ event: Event, to writer: inout JSONWriter) {
        guard let shown = ShownPayload(event) else { return }
        writer.beginObject()
        writer.member("message", shown.payload)
        writer.member("timetoken", event.timetoken.description)
        if showsUser, let user = event.user { writer.member("uuid", user) }
        if showsMeta { writer.member("meta", event.meta ?? JSONText(string: "")) }
        if showsKind { writer.member("message_type", shown.kind ?? 0) }
        if showsLabel {
            writer.key("custom_message_type")
            if let label = shown.label { writer.string(label) } else { writer.null() }
        }
        writer.endObject()
    }
}

/// A name as a key of history's answer: percent-encoded, but for the unreserved characters (RFC 3986, 2.3).
private enum PercentName {
    private static let digits = Array("0123456789ABCDEF".utf8)

    static func encode(_ name: String) -> String {
        var output: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: output.append(byte)
            default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
