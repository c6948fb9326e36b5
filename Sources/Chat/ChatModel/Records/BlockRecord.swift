public import JSON

/// A block: a user receives no events from another user. The record's id is `user/blocked` and its parent is the user.
public struct BlockRecord: Sendable, Equatable {
    /// The user who has blocked the other user.
    public var user: String
    /// The user whose events are not delivered.
    public var blocked: String
    /// The time at which the block began.
    public var since: Timetoken = .zero

    /// Creates a block of one user by another.
    public init(user: String, blocked: String) {
        self.user = user
        self.blocked = blocked
    }

    /// The id of the record, `user/blocked`.
    var id: String { RecordKey.id([user, blocked]) }

    /// The key of the record that stores the block of `blocked` by `user`.
    public static func key(_ user: String, _ blocked: String, in app: AppID) -> RecordKey {
        RecordKey(.block, parts: [user, blocked], in: app)
    }

    private func printMembers(to writer: inout JSONWriter) {
        writer.member("user", user)
        writer.member("blocked", blocked)
        writer.member("since_timetoken", since.description)
    }

    /// Prints the block as the REST API and events show it.
    public func show(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        printMembers(to: &writer)
        writer.member("created_at", since.timestamp)
        writer.endObject()
    }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Reads a stored record; nil when the record does not contain a block.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let user = root.text("user"),
            let blocked = root.text("blocked")
        else { return nil }
        self.init(user: user, blocked: blocked)
        since = root.timetoken("since_timetoken")
    }
}
