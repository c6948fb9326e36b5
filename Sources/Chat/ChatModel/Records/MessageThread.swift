public import JSON

/// The replies to a message: how many, and whose.
public struct MessageThread: Sendable, Equatable {
    public struct Author: Sendable, Equatable {
        public var user: String
        public var replies: Int
    }

    /// Authors that are remembered: those with the most replies, and who replied last.
    public static let authorsMost = 20

    public var replies = 0
    /// Most replies first.
    public private(set) var authors: [Author] = []
    /// The newest reply there ever was; zero with none.
    public var last: Timetoken = .zero
    /// Who wrote the message replied to.
    public var root: String?
    /// The channel that holds replies, for clients that give every thread one.
    public var channel: String?

    public init() {}

    /// Whose devices hear of the thread, members or not.
    public var listeners: [String] {
        var users = authors.map(\.user)
        if let root, !users.contains(where: { ExactText($0) == ExactText(root) }) { users.append(root) }
        return users
    }

    public mutating func add(by user: String?, at timetoken: Timetoken) {
        replies += 1
        last = timetoken
        guard let user else { return }
        if let index = authors.firstIndex(where: { ExactText($0.user) == ExactText(user) }) {
            authors[index].replies += 1
        } else {
            if authors.count == Self.authorsMost { authors.removeLast() }
            authors.append(Author(user: user, replies: 1))
        }
        authors.sort { $0.replies > $1.replies }
    }

    public mutating func remove(by user: String?) {
        replies = max(0, replies - 1)
        if replies == 0 {
            last = .zero
            authors = []
        }
        guard let user, let index = authors.firstIndex(where: { ExactText($0.user) == ExactText(user) }) else { return }
        authors[index].replies -= 1
        authors.removeAll { $0.replies == 0 }
        authors.sort { $0.replies > $1.replies }
    }

    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("reply_count", replies)
            writer.key("authors")
            writer.beginArray()
            for author in authors {
                writer.beginObject()
                writer.member("user", author.user)
                writer.member("replies", author.replies)
                writer.endObject()
            }
            writer.endArray()
            writer.nullable("last_reply_timetoken", last)
            writer.nullable("root", root)
            writer.nullable("channel", channel)
            writer.endObject()
        }
    }

    init(_ value: JSONValue) {
        replies = value.count("reply_count")
        last = value.timetoken("last_reply_timetoken")
        root = value.text("root")
        channel = value.text("channel")
        authors = (value["authors"]?.elements ?? []).compactMap { author in
            author.text("user").map { Author(user: $0, replies: author.count("replies")) }
        }
    }
}
