public import JSON

/// The summary of a message's thread: the number of replies and their authors.
public struct MessageThread: Sendable, Equatable {
    /// An author of replies, with the number of the author's replies.
    public struct Author: Sendable, Equatable {
        /// The author's name.
        public var user: String
        /// The number of the author's replies that still exist.
        public var replies: Int
    }

    /// The maximum number of authors. When a new author exceeds this maximum, the author with the fewest replies is
    /// dropped.
    public static let authorsMost = 20

    /// The number of replies.
    public var replies = 0
    /// The authors, in descending order of their numbers of replies.
    public private(set) var authors: [Author] = []
    /// The timetoken of the newest reply; zero without replies.
    public var last: Timetoken = .zero
    /// The author of the message that was replied to.
    public var root: String?
    /// The channel for the replies, for clients that give each thread a channel; nil when no client named one.
    public var channel: String?

    /// Creates a thread without replies.
    public init() {}

    /// The users whose devices receive events of the thread: the authors of replies and of the message, even when they
    /// are not members.
    public var listeners: [String] {
        var users = authors.map(\.user)
        if let root, !users.contains(where: { ExactText($0) == ExactText(root) }) { users.append(root) }
        return users
    }

    /// Counts a reply by `user` at a timetoken.
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

    /// Removes a reply by `user` from the counts.
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

    /// The JSON form of the summary in the message's stored record.
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
