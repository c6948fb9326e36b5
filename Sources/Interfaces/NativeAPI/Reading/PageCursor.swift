import ChatModel
import Signing

/// A place in a channel's history, as clients carry it from page to page (`conventions.md` 9).
///
/// Printed as base64url of `1|<timetoken>|asc|next|<anchor>`: the version of the form, the event the page begins after,
/// the order of the walk, its direction, and where a stream continues that was asked for with the walk's first page.
struct PageCursor: Equatable {
    enum Direction: String { case next, prev }

    var position: Timetoken
    var order: HistoryRequest.Order
    var direction = Direction.next
    var anchor: Timetoken

    init(position: Timetoken, order: HistoryRequest.Order, direction: Direction = .next, anchor: Timetoken) {
        self.position = position
        self.order = order
        self.direction = direction
        self.anchor = anchor
    }

    /// - Throws: `.malformed`, slug `bad_cursor`, for a text this gateway has not made.
    init(text: String) throws(ChatError) {
        let bytes = Base64.decodeURL(text) ?? []
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "1", let position = Timetoken(text: parts[1]),
            let order = HistoryRequest.Order(word: parts[2]), let direction = Direction(rawValue: String(parts[3])),
            let anchor = Timetoken(text: parts[4])
        else {
            throw ChatError(.malformed, "the page cursor must be one this gateway gave out", slug: "bad_cursor")
        }
        self.init(position: position, order: order, direction: direction, anchor: anchor)
    }

    var text: String {
        Base64.encodeURL(Array("1|\(position)|\(order.word)|\(direction.rawValue)|\(anchor)".utf8))
    }
}

extension HistoryRequest.Order {
    init?(word: some StringProtocol) {
        switch word {
        case "asc": self = .oldestFirst
        case "desc": self = .newestFirst
        default: return nil
        }
    }

    var word: String { self == .oldestFirst ? "asc" : "desc" }

    var reversed: HistoryRequest.Order { self == .oldestFirst ? .newestFirst : .oldestFirst }
}
