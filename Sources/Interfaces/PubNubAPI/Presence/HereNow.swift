import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Here-now calls of the PubNub API, which list the users present on channels.
extension PubNubAPI {
    /// `GET /v2/presence/sub-key/{s}/channel/{C}`: lists the occupants of one or more channels.
    func getHereNow(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let chat = chat(keyset, for: request)
        let wanted = try HereNowRequest(request)
        let place = try await place(request, chat)
        if let channel = place.single {
            let entry = try await describeChannel(channel, wanted, chat)
            return .presence { writer in
                entry.print(wanted, to: &writer)
                if let next = wanted.next(after: [entry]) { writer.member("next_offset", next) }
            }
        }
        return try await describeChannels(of: place.channels, wanted, chat)
    }

    /// `GET /v2/presence/sub-key/{s}`: counts all occupied channels, and lists the users of the first 1000.
    func getEverywhere(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let chat = chat(keyset, for: request)
        let occupied = try await chat.occupied()
        return try await describeChannels(
            of: occupied.prefix(Self.channelsMost).map(\.channel),
            beside: occupied.dropFirst(Self.channelsMost).map(\.count),
            try HereNowRequest(request), chat)
    }

    private static let channelsMost = 1000

    /// Returns the response for several channels. Channels without occupants are left out.
    ///
    /// - Parameter others: the numbers of occupants of further channels, one number for each channel. These channels
    ///   are counted, but their users are not listed.
    private func describeChannels(
        of channels: [String], beside others: [Int] = [], _ wanted: HereNowRequest, _ chat: ChatAccess
    ) async throws -> Response {
        var entries: [HereNowChannel] = []
        for channel in channels {
            let entry = try await describeChannel(channel, wanted, chat)
            if entry.count > 0 { entries.append(entry) }
        }
        return .presence { [entries] writer in
            writer.key("payload")
            writer.beginObject()
            writer.key("channels")
            writer.beginObject()
            for entry in entries {
                writer.key(text: entry.channel)
                writer.beginObject()
                entry.print(wanted, to: &writer)
                writer.endObject()
            }
            writer.endObject()
            writer.member("total_channels", entries.count + others.count)
            writer.member("total_occupancy", entries.reduce(0) { $0 + $1.count } + others.reduce(0, +))
            writer.endObject()
            if let next = wanted.next(after: entries) { writer.member("next_offset", next) }
        }
    }

    /// Returns a channel with its occupants. Reads the store's list of occupants page by page up to the offset of the
    /// request, because the cursors of this list are names and not offsets.
    private func describeChannel(
        _ channel: String, _ wanted: HereNowRequest, _ chat: ChatAccess
    ) async throws -> HereNowChannel {
        var entry = HereNowChannel(channel: channel)
        let names = wanted.showsUsers ? wanted.limit : 0
        var after: String?
        while true {
            let left = names == 0 ? 0 : wanted.offset + names - entry.seen
            let page = try await chat.occupants(of: channel, after: after, limit: min(left, limits.pageMost))
            entry.count = page.count
            entry.occupants += page.occupants.dropFirst(max(0, wanted.offset - entry.seen))
            entry.seen += page.occupants.count
            entry.hasMore = page.hasMore
            guard page.hasMore, entry.seen < wanted.offset + names, let last = page.occupants.last else { return entry }
            after = last.user
        }
    }
}

struct HereNowRequest: Sendable {
    private static let most = 1000

    let showsUsers: Bool
    let showsStates: Bool
    let limit: Int
    let offset: Int

    init(_ request: WireRequest) throws(WireError) {
        guard let limit = Int(request["limit"] ?? "1000"), let offset = Int(request["offset"] ?? "0"), limit >= 0,
            (0...1_000_000).contains(offset)
        else { throw .unreadable }
        self.limit = min(limit, Self.most)
        self.offset = offset
        showsUsers = !request.flag("disable_uuids")
        showsStates = request.flag("state")
    }

    /// The offset of the next page; nil when the page contains all names.
    func next(after entries: [HereNowChannel]) -> Int? {
        showsUsers && limit > 0 && entries.contains { $0.hasMore } ? offset + limit : nil
    }
}

/// One channel with its occupants.
struct HereNowChannel: Sendable {
    let channel: String
    var count = 0
    var occupants: [Occupancy.Occupant] = []
    var seen = 0
    var hasMore = false

    init(channel: String) { self.channel = channel }

    func print(_ wanted: HereNowRequest, to writer: inout JSONWriter) {
        if wanted.showsUsers {
            writer.key("uuids")
            writer.beginArray()
            for occupant in occupants {
                guard wanted.showsStates else {
                    writer.string(occupant.user)
                    continue
                }
                writer.beginObject()
                writer.member("uuid", occupant.user)
                if let state = occupant.state { writer.member("state", state) }
                writer.endObject()
            }
            writer.endArray()
        }
        writer.member("occupancy", count)
    }
}
