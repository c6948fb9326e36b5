import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Here-now calls of the PubNub API.
extension PubNubAPI {
    /// `GET /v2/presence/sub-key/{s}/channel/{C}`: lists the occupants of one or more channels.
    func getHereNow(_ request: WireRequest) async throws -> Response {
        let keyset = try Keyset(request.segment(3), service)
        let chat = chat(keyset, for: request)
        let wanted = try HereNowRequest(request)
        let place = try await place(request, chat)
        if let channel = place.single {
            let room = try await room(channel, wanted, chat)
            return .presence { writer in
                room.print(wanted, to: &writer)
                if let next = wanted.next(after: [room]) { writer.member("next_offset", next) }
            }
        }
        return try await rooms(of: place.channels, wanted, chat)
    }

    /// `GET /v2/presence/sub-key/{s}`: counts all occupied channels, and lists the users of the first 1000.
    func getEverywhere(_ request: WireRequest) async throws -> Response {
        let keyset = try Keyset(request.segment(3), service)
        let chat = chat(keyset, for: request)
        let occupied = try await chat.occupied()
        return try await rooms(
            of: occupied.prefix(Self.roomsMost).map(\.channel), beside: occupied.dropFirst(Self.roomsMost).map(\.count),
            try HereNowRequest(request), chat)
    }

    private static let roomsMost = 1000

    /// - Parameter others: the occupancy of each channel that is counted but not listed.
    private func rooms(
        of channels: [String], beside others: [Int] = [], _ wanted: HereNowRequest, _ chat: ChatAccess
    ) async throws -> Response {
        var rooms: [HereNowChannel] = []
        for channel in channels {
            let room = try await room(channel, wanted, chat)
            if room.count > 0 { rooms.append(room) }
        }
        return .presence { [rooms] writer in
            writer.key("payload")
            writer.beginObject()
            writer.key("channels")
            writer.beginObject()
            for room in rooms {
                writer.key(text: room.channel)
                writer.beginObject()
                room.print(wanted, to: &writer)
                writer.endObject()
            }
            writer.endObject()
            writer.member("total_channels", rooms.count + others.count)
            writer.member("total_occupancy", rooms.reduce(0) { $0 + $1.count } + others.reduce(0, +))
            writer.endObject()
            if let next = wanted.next(after: rooms) { writer.member("next_offset", next) }
        }
    }

    /// Reads page by page up to the offset, because the list of occupants has no numeric positions.
    private func room(_ channel: String, _ wanted: HereNowRequest, _ chat: ChatAccess) async throws -> HereNowChannel {
        var room = HereNowChannel(channel: channel)
        let names = wanted.showsUsers ? wanted.limit : 0
        var after: String?
        while true {
            let left = names == 0 ? 0 : wanted.offset + names - room.seen
            let page = try await chat.occupants(of: channel, after: after, limit: min(left, limits.pageMost))
            room.count = page.count
            room.occupants += page.occupants.dropFirst(max(0, wanted.offset - room.seen))
            room.seen += page.occupants.count
            room.hasMore = page.hasMore
            guard page.hasMore, room.seen < wanted.offset + names, let last = page.occupants.last else { return room }
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

    /// The offset of the next page; nil when no names were left out.
    func next(after rooms: [HereNowChannel]) -> Int? {
        showsUsers && limit > 0 && rooms.contains { $0.hasMore } ? offset + limit : nil
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
