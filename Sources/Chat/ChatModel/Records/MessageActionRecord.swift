public import JSON

/// What a user attached to a message: a reaction, or something of the app's own. One for each message, type, value and
/// user: the four make its id, so that nobody attaches the same twice.
public struct MessageActionRecord: Sendable, Equatable {
    public var channel: String
    /// The message.
    public var message: Timetoken
    public var type: String
    public var value: String
    public var user: String
    /// Its own place: that of the event that told of it.
    public var timetoken: Timetoken = .zero

    /// The type of reactions.
    public static let reaction = "reactions"
    /// The type of edits. What others have followed are records of their own, whose ids have the place instead of value and
    /// user.
    public static let edit = "edited"

    public init(channel: String, message: Timetoken, type: String, value: String, user: String) {
        self.channel = channel
        self.message = message
        self.type = type
        self.value = value
        self.user = user
    }

    public func key(in app: AppID) -> RecordKey {
        RecordKey(.messageAction, parts: [channel, message.description, type, value, user], in: app)
    }

    /// What the ids of a message's actions begin with, or those of one type or value.
    public static func prefix(_ channel: String, _ message: Timetoken, _ more: String...) -> String {
        RecordKey.prefix([channel, message.description] + more)
    }

    public func printMembers(to writer: inout JSONWriter) {
        writer.member("channel", channel)
        writer.member("message_timetoken", message.description)
        writer.member("type", type)
        writer.member("value", value)
        writer.member("user", user)
        writer.member("action_timetoken", timetoken.description)
    }

    public var body: JSONText { JSONText { show(to: &$0) } }

    /// Prints it as the REST API shows it, and as events hold it (`$defs/action` of the catalogue).
    public func show(to writer: inout JSONWriter) {
        writer.beginObject()
        printMembers(to: &writer)
        writer.endObject()
    }

    /// Nil for a record that is none of ours.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let channel = root.text("channel"),
            let type = root.text("type"), let value = root.text("value"), let user = root.text("user")
        else { return nil }
        self.init(
            channel: channel, message: root.timetoken("message_timetoken"), type: type, value: value, user: user)
        timetoken = root.timetoken("action_timetoken")
    }
}
