import ChatCore
import ChatModel
import JSON

/// What the streams of a run ask for: each of them something else, so that none shares a feed with another.
enum Case: String, CaseIterable {
    /// Ten channels of its own.
    case exact
    /// Everything below ten prefixes of its own.
    case prefix
    /// Every channel, one type.
    case types
    /// One channel for all, filters that compare for equality.
    case equality
    /// One channel for all, filters that look for a member of a list.
    case membership
    /// One channel for all, filters that hold above a number.
    case bound
    /// One channel for all, filters in which nothing can be looked up.
    case asked

    static let app = AppID("bench")

    /// Channels or prefixes of a stream.
    var channels: Int { self == .exact || self == .prefix ? 10 : 1 }

    func selection(_ number: Int) throws -> Selection {
        switch self {
        case .exact: return select((0..<10).map { .exact("room.\(number).\($0)") })
        case .prefix: return select((0..<10).map { .below("room.\(number).\($0).") })
        case .types: return select([.all], types: [.exact("order.\(number)")])
        case .equality:
            return select([.exact("orders")], filter: try Filter("data.live == true && data.customer == 'c\(number)'"))
        case .membership: return select([.exact("orders")], filter: try Filter("data.mentions CONTAINS 'c\(number)'"))
        case .bound: return select([.exact("orders")], filter: try Filter("data.n > \(number)"))
        case .asked: return select([.exact("orders")], filter: try Filter("data.customer LIKE 'c\(number)'"))
        }
    }

    private func select(_ channels: [NamePattern], types: [NamePattern] = [], filter: Filter? = nil) -> Selection {
        Selection(channels: ChannelSet(app: Self.app, patterns: channels), types: types, filter: filter)
    }

    /// The streams that get an event, each alone.
    func targets(_ feeds: Int) -> [Int] {
        self == .bound ? Array(repeating: 0, count: 200) : (0..<200).map { $0 * feeds / 200 }
    }

    /// An event for the stream of that number alone.
    func event(_ number: Int) -> Event {
        let channel =
            switch self {
            case .exact: "room.\(number).7"
            case .prefix: "room.\(number).7.news"
            case .types, .equality, .membership, .bound, .asked: "orders"
            }
        let pad = String(repeating: "x", count: 150)
        let data = """
            {"live":true,"customer":"c\(number)","mentions":["nobody","c\(number)"],"n":\(number).5,"text":"\(pad)"}
            """
        return Event(
            timetoken: Timetoken(UInt64(number + 1)),
            draft: EventDraft(
                channel: ChannelID(channel, in: Self.app), type: self == .types ? "order.\(number)" : "order.paid",
                data: JSONText(trusted: Array(data.utf8))))
    }
}
