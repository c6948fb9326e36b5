public import ChatModel
import JSON

/// The links of a message to other messages and to users. For a message without links, no records of messages and users
/// are read.
///
/// Links are stored in the message's `meta`, under the names that PubNub chat clients use. So a message has the same
/// form in every interface.
public struct MessageLinks: Sendable {
    /// The users that a message mentions.
    public enum Mentions: Sendable {
        /// The ids of the mentioned users in the order of the text, at most `Limits.mentionsPerMessage`.
        case users([String])
        /// All users in the channel.
        case channel
    }

    /// The timetoken of the quoted message; nil for none.
    public var quote: Timetoken?
    /// The timetoken of the thread's first message; nil for a message that is not a reply.
    public var threadOf: Timetoken?
    /// The users whom the message mentions; nil for none.
    public var mentions: Mentions?
    /// True when `meta` may already contain quotes and mentions. PubNub clients write them to `meta`, and send the
    /// events about mentions themselves.
    public var keepsMeta = false

    /// Creates links to the given messages and users.
    public init(quote: Timetoken? = nil, threadOf: Timetoken? = nil, mentions: Mentions? = nil) {
        self.quote = quote
        self.threadOf = threadOf
        self.mentions = mentions
    }

    var mentioned: [String] {
        guard case .users(let users) = mentions else { return [] }
        return users
    }

    func check(_ limits: Limits) throws(ChatError) {
        let users = mentioned
        for user in users { try Names.check(user: user) }
        guard users.count <= limits.mentionsPerMessage, !users.hasRepeats else {
            throw ChatError(
                .malformed, "'mentions' may name at most \(limits.mentionsPerMessage) different users",
                field: "mentions"
            )
        }
    }

    /// Returns the sender's `meta` with the links added.
    ///
    /// - Parameters:
    ///   - quoted: the quoted message; nil for none.
    ///   - names: the names of mentioned users by id. For a user without a name, the id is printed.
    func meta(
        beside meta: JSONText?, quoting quoted: Message?, names: [ExactText: String]
    ) throws(ChatError) -> JSONText {
        let members = keepsMeta ? Self.kept(of: meta) : try Self.members(of: meta)
        return JSONText(capacity: (meta?.count ?? 0) + 256) { writer in
            writer.beginObject()
            for (name, value) in members {
                writer.key(text: name)
                writer.raw(value)
            }
            if let quoted { Self.print(quoted, to: &writer) }
            if let mentions { Self.print(mentions, names, to: &writer) }
            if let threadOf { writer.member("threadOf", threadOf.description) }
            writer.endObject()
        }
    }

    private static let names = ["quotedMessage", "mentionedUsers", "mentionType", "threadOf"]

    private static func kept(of meta: JSONText?) -> [(name: String, value: JSONText)] {
        (meta?.rawMembers() ?? []).filter { $0.name != threadName }
    }

    /// The member of `meta` that contains the timetoken of the thread's first message.
    public static let threadName = "threadOf"

    private static func members(of meta: JSONText?) throws(ChatError) -> [(name: String, value: JSONText)] {
        guard let meta, meta != .null else { return [] }
        guard let members = meta.rawMembers() else {
            throw ChatError(
                .malformed,
                "'meta' must be an object, because 'quote', 'mentions' and 'thread_of' are stored in 'meta'",
                field: "meta")
        }
        if let taken = members.first(where: { names.contains($0.name) }) {
            throw ChatError(
                .malformed,
                "'meta' must not have the member '\(taken.name)', which 'quote', 'mentions' or 'thread_of' sets",
                field: "meta")
        }
        return members
    }

    private static func print(_ quoted: Message, to writer: inout JSONWriter) {
        writer.key("quotedMessage")
        writer.beginObject()
        writer.member("timetoken", quoted.timetoken)
        writer.member("text", quoted.text ?? "")
        if let user = quoted.event.user { writer.member("userId", user) }
        writer.endObject()
    }

    private static func print(_ mentions: Mentions, _ names: [ExactText: String], to writer: inout JSONWriter) {
        guard case .users(let users) = mentions else { return writer.member("mentionType", "channel") }
        writer.key("mentionedUsers")
        writer.beginObject()
        for (index, user) in users.enumerated() {
            writer.key(text: String(index))
            writer.beginObject()
            writer.member("id", user)
            writer.member("name", names[ExactText(user)] ?? user)
            writer.endObject()
        }
        writer.endObject()
    }
}
