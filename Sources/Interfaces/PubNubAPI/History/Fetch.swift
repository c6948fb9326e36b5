import ChatCore
import ChatModel
import HTTPServer
import JSON
import Text

extension PubNubAPI {
    /// `GET /v3/history/sub-key/{s}/channel/{C}`: returns the newest messages of one or more channels. For each
    /// channel, the oldest of these messages comes first.
    func getHistory(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let channels = try readable(try request.names(5))
        let wanted = try FetchRequest(request, channelCount: channels.count, limits)
        let chat = chat(keyset, for: request)
        let found = try await fetch(wanted, limit: wanted.limit, channels, keyset, chat)
        let pages = zip(channels, found).filter { !$0.1.isEmpty }.map { (channel: $0.0, events: $0.1) }
        return .wire(wanted.print(pages).bytes)
    }

    /// `GET /v3/history-with-actions/sub-key/{s}/channel/{c}`: returns the newest messages of one channel with their
    /// actions.
    func getHistoryWithActions(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let channels = try readable(try request.names(5))
        guard channels.count == 1 else { throw WireError.unreadable }
        var wanted = try FetchRequest(request, channelCount: 2, limits)
        let chat = chat(keyset, for: request)
        // One event more than requested is read. Its presence shows that there is a next page.
        let found = try await fetch(wanted, limit: wanted.limit + 1, channels, keyset, chat)[0]
        let events = wanted.isNewestFirst ? Array(found.suffix(wanted.limit)) : Array(found.prefix(wanted.limit))
        wanted.actions = try await chat.actions(of: events)
        if found.count > wanted.limit, wanted.isNewestFirst, let first = events.first {
            wanted.more = (
                "/v3/history-with-actions/sub-key/\(keyset.record.subscribeKey)/channel/\(PercentEncoding.encode(channels[0]))",
                first.timetoken
            )
        }
        return .wire(wanted.print(events.isEmpty ? [] : [(channels[0], events)]).bytes)
    }

    /// Checks the channels of a history call. There must be 1 to `Limits.streamChannels` exact names and no patterns.
    func readable(_ names: [String]) throws -> [String] {
        guard (1...limits.streamChannels).contains(names.count) else { throw WireError.unreadable }
        for name in names {
            try Names.check(channel: name)
            guard name != ChannelID.systemName else { throw WireError.unreadable }
        }
        return names
    }

    /// Reads one page of each channel in one query. The oldest event of each page comes first.
    func fetch(
        _ wanted: FetchRequest, limit: Int, _ channels: [String], _ keyset: Keyset, _ chat: ChatAccess
    ) async throws(ChatError) -> [[Event]] {
        let asked = min(limit, limits.pageMost)
        let sources = channels.map { channel in
            HistorySources(channel, in: keyset.app) { wanted.request(for: $0, limit: asked) }
        }
        let pages = try await HistorySources.pages(sources, limit: limit, chat)
        return wanted.isNewestFirst ? pages.map { $0.reversed() } : pages
    }
}

/// The parameters of a history call, and the format of its items.
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
    /// The actions of the messages, by the timetoken of the message; nil when the request did not ask for actions.
    var actions: [Timetoken: [MessageActionRecord]]?
    /// The path of the next page and the position at which that page starts; nil when there is no next page.
    var more: (path: String, start: Timetoken)?

    var isNewestFirst: Bool { order == .newestFirst }

    /// Parses the bounds, the order and the fields.
    ///
    /// `start` is exclusive, and `end` is inclusive. If both are given, the later one is the newer bound. If only one
    /// is given, `start` is a newer bound and `end` is an older bound; with `reverse`, it is the other way round.
    /// The request asks for the oldest messages between the bounds if `start` is older than `end` or `reverse` is set,
    /// and for the newest messages otherwise.
    init(_ request: WireRequest, channelCount: Int, _ limits: Limits) throws(WireError) {
        let most = channelCount == 1 ? Self.ofOne : Self.ofSeveral
        guard let asked = Int(request["max"] ?? "0"), asked >= 0 else { throw .unreadable }
        limit = min(asked == 0 ? most : min(asked, most), limits.pageMost)
        let start = try request.timetoken("start")
        let end = try request.timetoken("end")
        let isReverse = request.flag("reverse")
        if isReverse { order = .oldestFirst }
        let isTurned = if let start, let end { start < end } else { isReverse }
        if isTurned {
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

    /// Creates a request of history version 2. Reading begins at the position `start`, which is the newer bound, or the
    /// older bound with `reverse`.
    init(old isReverse: Bool, start: Timetoken?, end: Timetoken?, limit: Int) {
        self.limit = limit
        if isReverse {
            order = .oldestFirst
            after = start ?? .zero
            before = end?.after ?? .distantFuture
        } else {
            before = start ?? .distantFuture
            after = end?.before ?? .zero
        }
        (showsMeta, showsUser, showsKind, showsLabel, encodesNames) = (false, false, false, false, false)
    }

    func request(for channel: ChannelID, limit: Int) -> HistoryRequest {
        var request = HistoryRequest(channel: channel, after: after, before: before, order: order, limit: limit)
        request.kinds = Self.kinds
        request.typesOfAnyKind = Self.chatTypes
        return request
    }

    /// The kinds of events in PubNub's history. The history contains no signals, presence events, or changes of records
    /// and messages.
    static let kinds: Set<EventKind> = [.message, .file]
    /// The types of built-in events that Chat SDKs publish as messages, such as reports and mentions. The SDKs expect
    /// these events in the history.
    private static let chatTypes: Set<String> = [
        "user.mentioned", "member.invited", "report.created", "user.banned", "user.muted", "user.unbanned",
        "user.unmuted",
    ]

    func print(_ pages: [(channel: String, events: [Event])]) -> JSONText {
        JSONText(capacity: 256 + pages.reduce(0) { $0 + $1.events.count * 256 }) { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.member("error", false)
            writer.member("error_message", "")
            writer.key("channels")
            writer.beginObject()
            for (channel, events) in pages {
                writer.key(text: encodesNames ? PercentEncoding.encode(channel) : channel)
                writer.beginArray()
                for event in events { print(event, to: &writer) }
                writer.endArray()
            }
            writer.endObject()
            if let more {
                writer.key("more")
                writer.beginObject()
                writer.member("url", "\(more.path)?start=\(more.start)&max=\(limit)")
                writer.member("start", more.start.description)
                writer.member("max", limit)
                writer.endObject()
            }
            writer.endObject()
        }
    }

    private func print(_ event: Event, to writer: inout JSONWriter) {
        guard let shown = VisiblePayload(event) else { return }
        writer.beginObject()
        writer.member("message", shown.payload)
        writer.member("timetoken", event.timetoken)
        if showsUser, let user = event.user { writer.member("uuid", user) }
        if showsMeta { writer.member("meta", shown.meta ?? JSONText(string: "")) }
        if showsKind { writer.member("message_type", shown.kind ?? 0) }
        if showsLabel {
            writer.key("custom_message_type")
            if let label = shown.label { writer.string(label) } else { writer.null() }
        }
        if let actions = actions?[event.timetoken], !actions.isEmpty {
            writer.key("actions")
            print(actions, to: &writer)
        }
        writer.endObject()
    }

    /// Prints the actions, grouped by type and then by value. The groups are in the order of their first actions.
    ///
    /// Edits with the same text are printed newest first: a Chat SDK compares the first edit of each text to find the
    /// newest text.
    private func print(_ actions: [MessageActionRecord], to writer: inout JSONWriter) {
        writer.beginObject()
        for type in actions.map(\.type).withoutRepeats {
            let ofType = actions.filter { ExactText($0.type) == ExactText(type) }
            writer.key(text: type)
            writer.beginObject()
            for value in ofType.map(\.value).withoutRepeats {
                writer.key(text: value)
                writer.beginArray()
                let ofValue = ofType.filter { ExactText($0.value) == ExactText(value) }
                for action in type == MessageActionRecord.edit ? ofValue.reversed() : ofValue {
                    writer.beginObject()
                    writer.member("uuid", action.user)
                    writer.member("actionTimetoken", action.timetoken.description)
                    writer.endObject()
                }
                writer.endArray()
            }
            writer.endObject()
        }
        writer.endObject()
    }
}
