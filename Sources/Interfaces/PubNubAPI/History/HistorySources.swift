import ChatCore
import ChatModel

/// The parts of the log that make up the history of a PubNub channel: the channel's own events without replies. The
/// history of a thread's channel also contains the replies, which the log stores in the parent channel.
struct HistorySources {
    private let requests: [HistoryRequest]

    /// Determines the parts of the log for a PubNub channel.
    ///
    /// - Parameter request: makes the history request for a channel.
    init(_ channel: String, in app: AppID, _ request: (ChannelID) -> HistoryRequest) {
        var own = request(ChannelID(channel, in: app))
        own.thread = .none
        guard let thread = MappedThread(channel) else {
            requests = [own]
            return
        }
        var replies = request(ChannelID(thread.parent, in: app))
        replies.thread = .of(thread.root)
        requests = [own, replies]
    }

    var all: [HistoryRequest] { requests }

    /// Reads the pages of several channels, each in the order of its request and with at most `limit` events.
    static func pages(_ channels: [HistorySources], limit: Int, _ chat: ChatAccess) async throws(ChatError) -> [[Event]]
    {
        let first = try await chat.history(channels.flatMap(\.requests), onWire: true)
        var pages: [[Event]] = []
        var index = 0
        for channel in channels {
            var found: [Event] = []
            for request in channel.requests {
                found += try await fill(first[index], of: request, limit, chat)
                index += 1
            }
            if channel.requests.count > 1 {
                let isNewestFirst = channel.requests[0].order == .newestFirst
                found.sort { isNewestFirst ? $0.timetoken > $1.timetoken : $0.timetoken < $1.timetoken }
            }
            pages.append(Array(found.prefix(limit)))
        }
        return pages
    }

    /// Reads further pages until there are `limit` events that PubNub clients see. For most histories, the first page
    /// suffices.
    private static func fill(
        _ page: Page<Event>, of query: HistoryRequest, _ limit: Int, _ chat: ChatAccess
    ) async throws(ChatError) -> [Event] {
        var (page, query) = (page, query)
        var found = page.items.filter { VisiblePayload.shows($0) }
        while found.count < limit, let rest = query.rest(behind: page) {
            (query, page) = (rest, try await chat.history([rest], onWire: true)[0])
            found += page.items.filter { VisiblePayload.shows($0) }
        }
        return found
    }
}
