public import JSON

/// An action on a message: a reaction, or an action type of the app. Its key is made of message, type, value and user,
/// so that no user adds the same action twice.
public struct MessageActionRecord: Sendable, Equatable {
    /// The channel of the message.
    public var channel: String
    /// The timetoken of the message.
    public var message: Timetoken
    /// ``reaction``, ``edit`` or an action type of the app.
    public var type: String
    /// The value: an emoji for a reaction.
    public var value: String
    /// The user who added the action.
    public var user: String
    /// The action's own timetoken: that of the event that announced it.
    public var timetoken: Timetoken = .zero

    /// The action type of reactions.
    public static let reaction = "reactions"
    /// The action type of edits. Edits that were followed by other edits are records, whose ids contain the timetoken
    /// instead of value and user.
    public static let edit = "edited"

    /// An action without a timetoken, which the event that announces it sets.
    public init(channel: String, message: Timetoken, type: String, value: String, user: String) {
        self.channel = channel
        self.message = message
        self.type = type
        self.value = value
        self.user = user
    }

    /// The public id: the timetokens of the message and of the action, with `/` between them. The action's path
    /// contains both.
    public var id: String { "\(message)/\(timetoken)" }

    /// The key under which the store keeps the record.
    public func key(in app: AppID) -> RecordKey {
        RecordKey(.messageAction, parts: [channel, message.description, type, value, user], in: app)
    }

    /// The prefix of the ids of a message's actions, or of those with one type or value.
    public static func prefix(_ channel: String, _ message: Timetoken, _ more: String...) -> String {
        RecordKey.prefix([channel, message.description] + more)
    }

    /// Prints the action's members in an object that the caller has begun.
    func printMembers(to writer: inout JSONWriter) {
        writer.member("channel", channel)
        writer.member("message_timetoken", message.description)
        writer.member("type", type)
        writer.member("value", value)
        writer.member("user", user)
        writer.member("action_timetoken", timetoken.description)
    }

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Prints the action as the REST API shows it and events contain it (`$defs/action` of the catalogue).
    public func show(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        printMembers(to: &writer)
        writer.endObject()
    }

    /// Nil for a record of another form.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let channel = root.text("channel"),
            let type = root.text("type"), let value = root.text("value"), let user = root.text("user")
        else { return nil }
        self.init(
            channel: channel, message: root.timetoken("message_timetoken"), type: type, value: value, user: user)
        timetoken = root.timetoken("action_timetoken")
    }
}
