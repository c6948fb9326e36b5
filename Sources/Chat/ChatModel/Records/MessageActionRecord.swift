public import JSON

/// The record of an action on a message: a reaction, an edit, or an action type of the app. The key consists of
/// message, type, value and user, so that a user cannot add the same action twice.
public struct MessageActionRecord: Sendable, Equatable {
    /// The channel of the message.
    public var channel: String
    /// The timetoken of the message.
    public var message: Timetoken
    /// The action type: ``reaction``, ``edit`` or an action type of the app.
    public var type: String
    /// The value of the action, such as the emoji of a reaction.
    public var value: String
    /// The user who added the action.
    public var user: String
    /// The action's own timetoken, which is the timetoken of the event that announced the action.
    public var timetoken: Timetoken = .zero

    /// The action type of reactions.
    public static let reaction = "reactions"
    /// The action type of edits. The latest edit of a message is stored in the message's record
    /// (``MessageRecord/edit``). Each earlier edit is stored in a record of this type, whose key contains the timetoken
    /// of the edit instead of value and user.
    public static let edit = "edited"

    /// Creates an action whose timetoken is not known yet.
    public init(channel: String, message: Timetoken, type: String, value: String, user: String) {
        self.channel = channel
        self.message = message
        self.type = type
        self.value = value
        self.user = user
    }

    /// The id in the API: the timetokens of the message and of the action, joined by `/`. The path of the action
    /// contains both.
    public var id: String { "\(message)/\(timetoken)" }

    /// The key of the record that stores this action. It contains the message, the action type, the value and the user.
    public func key(in app: AppID) -> RecordKey {
        RecordKey(.messageAction, parts: [channel, message.description, type, value, user], in: app)
    }

    /// The prefix of the record ids of a message's actions. `more` restricts the actions to a type, or to a type and a
    /// value.
    public static func prefix(_ channel: String, _ message: Timetoken, _ more: String...) -> String {
        RecordKey.prefix([channel, message.description] + more)
    }

    /// Prints the action's members into an object that the caller has begun.
    func printMembers(to writer: inout JSONWriter) {
        writer.member("channel", channel)
        writer.member("message_timetoken", message.description)
        writer.member("type", type)
        writer.member("value", value)
        writer.member("user", user)
        writer.member("action_timetoken", timetoken.description)
    }

    /// The JSON body of the stored record.
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

    /// Reads a stored record; nil when the record does not contain a message action.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let channel = root.text("channel"),
            let type = root.text("type"), let value = root.text("value"), let user = root.text("user")
        else { return nil }
        self.init(
            channel: channel, message: root.timetoken("message_timetoken"), type: type, value: value, user: user)
        timetoken = root.timetoken("action_timetoken")
    }
}
