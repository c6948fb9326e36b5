import ChatCore
import ChatModel
import HTTPServer
import JSON

extension PubNubAPI {
    /// The maximum count of a channel. Counting stops at this number.
    private static let countMost = 10_000

    /// `GET /v3/history/sub-key/{s}/message-counts/{C}`: counts the messages of each channel after a position.
    func getCounts(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let channels = try readable(try request.names(5))
        let positions = try positions(request, count: channels.count)
        let sources = zip(channels, positions).map { channel, position in
            HistorySources(channel, in: keyset.app) { channel in
                var query = HistoryRequest(channel: channel, after: position, limit: 1)
                query.kinds = FetchRequest.kinds
                query.countMost = Self.countMost
                return query
            }
        }
        var found = try await chat(keyset, for: request).counts(sources.flatMap(\.all))[...]
        let counts = sources.map { source in
            defer { found = found.dropFirst(source.all.count) }
            return min(found.prefix(source.all.count).reduce(0, +), Self.countMost)
        }
        return .wire { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.member("error", false)
            writer.member("error_message", "")
            writer.key("channels")
            writer.beginObject()
            for (channel, count) in zip(channels, counts) {
                writer.key(text: channel)
                writer.integer(count)
            }
            writer.endObject()
            writer.endObject()
        }
    }

    /// The positions after which to count: one position for all channels, or one position for each channel.
    private func positions(_ request: WireRequest, count: Int) throws(WireError) -> [Timetoken] {
        let common = try request.timetoken("timetoken")
        // Equal positions are not removed from the list, because two channels may have the same position.
        let each = request["channelsTimetoken"].map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard (common == nil) != (each == nil) else { throw .unreadable }
        if let common { return Array(repeating: common, count: count) }
        let positions = (each ?? []).compactMap { Timetoken(wire: String($0)) }
        guard positions.count == each?.count, [1, count].contains(positions.count) else { throw .unreadable }
        return positions.count == count ? positions : Array(repeating: positions[0], count: count)
    }
}
