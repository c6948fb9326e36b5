import ChatModel
import Signing

/// A cursor of a channel's history. It states where a page begins; clients send it to get that page.
///
/// Printed as base64url of `2|<timetoken>|asc|next|<anchor>|<list>`: the version of the format, the event after which
/// the page begins, the order of the events, the direction (`next` or `prev`), the position from which a stream
/// continues after the first page, and a digest of the channel and the filters.
struct PageCursor: Equatable {
    enum Direction: String { case next, prev }

    var position: Timetoken
    var order: HistoryRequest.Order
    var direction = Direction.next
    var anchor: Timetoken
    /// The digest of the list to which the cursor belongs (`ListCursorCodec.digest`).
    var list: String

    init(
        position: Timetoken, order: HistoryRequest.Order, direction: Direction = .next, anchor: Timetoken, list: String
    ) {
        self.position = position
        self.order = order
        self.direction = direction
        self.anchor = anchor
        self.list = list
    }

    /// Parses a cursor.
    ///
    /// - Throws: `.malformed`, slug `bad_cursor`, for a text that this gateway did not create.
    init(text: String) throws(ChatError) {
        guard let cursor = PageCursor(printed: text) else { throw ChatError.foreignCursor(text) }
        self = cursor
    }

    /// Parses a printed cursor; nil for any other text.
    fileprivate init?(printed text: String) {
        let bytes = Base64.decodeURL(text) ?? []
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "2", let position = Timetoken(text: parts[1]),
            let order = HistoryRequest.Order(word: parts[2]), let direction = Direction(rawValue: String(parts[3])),
            let anchor = Timetoken(text: parts[4])
        else { return nil }
        self.init(position: position, order: order, direction: direction, anchor: anchor, list: String(parts[5]))
    }

    var text: String {
        Base64.encodeURL(Array("2|\(position)|\(order.word)|\(direction.rawValue)|\(anchor)|\(list)".utf8))
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

/// The two kinds of cursors. The error for a cursor of the wrong kind states which kind the client has sent.
enum CursorKind {
    /// The start of a page in a list, from `next_cursor` or `prev_cursor`.
    case page
    /// A position in the event log, from `stream_cursor` or a stream.
    case stream

    /// The kind of a cursor, determined by its form; nil for a text that is not a cursor.
    init?(of text: String) {
        if Timetoken(position: text) != nil || ["earliest", "latest"].contains(text) {
            self = .stream
        } else if ListCursorCodec.hasForm(text) || PageCursor(printed: text) != nil {
            self = .page
        } else {
            return nil
        }
    }
}

extension Parameters {
    /// The cursor from which a stream or a poll continues, as the client sent it; nil when the parameter is absent.
    ///
    /// - Throws: `.malformed`, slug `bad_cursor`, for a page cursor.
    func streamCursor() throws(ChatError) -> String? {
        guard let text = try text("cursor") else { return nil }
        guard CursorKind(of: text) != .page else {
            throw ChatError(.malformed, CursorKind.pageInsteadOfStream, slug: "bad_cursor", field: "cursor")
        }
        return text
    }
}

extension CursorKind {
    static let pageInsteadOfStream =
        "the cursor names a page of a list, not a position of a stream; send a position: a timetoken, such as "
        + "the 'stream_cursor' of a page, 'earliest' or 'latest'"
}
