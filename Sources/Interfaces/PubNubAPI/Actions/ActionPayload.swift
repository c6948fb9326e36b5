import ChatModel
import JSON

/// A change of a message in the PubNub format: an action (such as a reaction) was added to the message or removed.
struct ActionPayload {
    private var isThere = true
    private var message: String?
    private var type: String
    private var value: String?
    /// The action's timetoken. If the event's data contains none, an added action gets the timetoken of the event, and
    /// a removed action has none (nil).
    private var place: String?

    /// Creates the payload for an event that adds or removes a PubNub message action, such as a reaction, an edit, a
    /// soft deletion or the creation of a thread. Nil for any other event.
    init?(_ event: Event) {
        guard let data = Self.types.contains(event.type) ? (try? JSONDocument(event.data))?.root : nil else {
            return nil
        }
        type = ""
        message = data["message"]?["timetoken"]?.string
        switch event.type {
        case "reaction.added", "reaction.removed":
            read(data["reaction"])
            isThere = event.type == "reaction.added"
        case "action.added", "action.removed":
            read(data["action"])
            isThere = event.type == "action.added"
        case "message.deleted":
            guard data["hard"]?.boolean == false else { return nil }
            (type, value) = ("deleted", "deleted")
        case "message.updated": readEdit(data, event.data)
        default:
            // Replies also change threads, but only the events that add or remove the thread's channel have an action.
            guard let action = data["action"] else { return nil }
            read(action)
            isThere = data["operation"]?.string == "reply_created"
        }
        if isThere { place = place ?? event.timetoken.description }
    }

    private mutating func read(_ action: JSONValue?) {
        message = action?["message_timetoken"]?.string
        place = action?["action_timetoken"]?.string
        (type, value) = (action?["type"]?.string ?? "", action?["value"]?.string)
    }

    private mutating func readEdit(_ data: JSONValue, _ text: JSONText) {
        if let undone = data["undone"] {
            isThere = false
            (type, value) = (undone["type"]?.string ?? "edited", undone["value"]?.string)
            place = undone["action_timetoken"]?.string
        } else {
            type = "edited"
            let payload = data["message"]?["data"]
            value =
                payload?.string ?? payload?["text"]?.string
                ?? text.rawMember("message")?.rawMember("data")?.description
        }
    }

    private static let types: Set<String> = [
        "reaction.added", "reaction.removed", "action.added", "action.removed", "message.deleted", "message.updated",
        "thread.updated",
    ]

    var payload: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("source", "actions")
            writer.member("version", "1.0")
            writer.member("event", isThere ? "added" : "removed")
            writer.key("data")
            writer.beginObject()
            writer.member("messageTimetoken", message ?? "")
            writer.member("type", type)
            writer.member("value", value ?? "")
            writer.member("actionTimetoken", place ?? "")
            writer.endObject()
            writer.endObject()
        }
    }
}
