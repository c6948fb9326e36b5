public import ChatModel

/// An event of a subscription, distinguished by its kind.
///
/// ```swift
/// subscription.onEvent = { event in
///     switch event {
///     case .messageReceived(let message): print(message.publisher ?? "", message.payload)
///     case .presenceChanged(let change): print(change.actions)
///     default: break
///     }
/// }
/// ```
public enum SubscriptionEvent: Sendable {
    /// A chat message, or an event with a type of the app.
    case messageReceived(LiveEvent)
    case signalReceived(LiveEvent)
    /// A message that announces a file.
    case fileChanged(LiveEvent)
    /// A reaction, another action, an edit, a deletion or a reply.
    case messageActionChanged(MessageActionEvent)
    /// Users joined or left the channel, or changed their state.
    case presenceChanged(PresenceChange)
    /// A user, a channel or a membership was created, changed or deleted.
    case appContextChanged(AppContextEvent)
    /// Any other event of the gateway, such as a receipt or the typing of a user.
    case other(LiveEvent)

    init(_ event: LiveEvent, _ chat: Chat) {
        self =
            switch event.kind {
            case .message: .messageReceived(event)
            case .signal: .signalReceived(event)
            case .file: .fileChanged(event)
            case .action: MessageActionEvent(event).map { .messageActionChanged($0) } ?? .other(event)
            case .presence: .presenceChanged(PresenceChange(event))
            case .recordChange, .other:
                AppContextEvent(event, chat).map { .appContextChanged($0) } ?? .other(event)
            }
    }

    /// The event as it was received.
    public var event: LiveEvent {
        switch self {
        case .messageReceived(let event), .signalReceived(let event), .fileChanged(let event), .other(let event): event
        case .messageActionChanged(let change): change.event
        case .presenceChanged(let change): change.event
        case .appContextChanged(let change): change.event
        }
    }
}

/// A change of a message, or of its reactions, actions or replies.
public struct MessageActionEvent: Sendable {
    /// The kind of a change, with its values.
    public enum Change: Sendable, Equatable {
        /// A reaction (type `reactions`) or an action of the app was added.
        case added(MessageAction)
        case removed(MessageAction)
        /// The message was edited, or an edit or a deletion was undone. The value is the new payload; nil when the
        /// event does not contain it.
        case updated(AnyJSON?)
        case deleted
        /// A reply was created or deleted. The value is the number of replies after the change.
        case threadUpdated(replyCount: Int)
    }

    /// The event that reports the change.
    public let event: LiveEvent
    /// The timetoken of the changed message; for a reply, the timetoken of the message that was replied to.
    public let messageTimetoken: Timetoken
    /// The change.
    public let change: Change

    /// Reads a change of a message from an event. Returns nil for an event that is not about a single message.
    package init?(_ event: LiveEvent) {
        let data = event.payload
        let attached = data["reaction"] ?? data["action"]
        switch event.type {
        case "reaction.added", "action.added":
            guard let attached else { return nil }
            change = .added(MessageAction(attached, event, data))
        case "reaction.removed", "action.removed":
            guard let attached else { return nil }
            change = .removed(MessageAction(attached, event, data))
        case "message.updated": change = .updated(data["message"]?["data"])
        case "message.deleted": change = .deleted
        case "thread.updated": change = .threadUpdated(replyCount: data["thread"]?.count("reply_count") ?? 0)
        default: return nil
        }
        let message =
            data["message"]?.timetoken("timetoken") ?? data.timetoken("thread_of")
            ?? attached?.timetoken("message_timetoken")
        guard let message else { return nil }
        messageTimetoken = message
        self.event = event
    }
}

extension MessageAction {
    fileprivate init(_ attached: AnyJSON, _ event: LiveEvent, _ data: AnyJSON) {
        let isReaction = event.type.hasPrefix("reaction.")
        self.init(
            type: attached.text("type") ?? (isReaction ? "reactions" : ""), value: attached.text("value") ?? "",
            userId: attached.text("user") ?? data["user"]?.text("id") ?? event.user ?? "",
            timetoken: attached.timetoken("action_timetoken") ?? event.timetoken)
    }
}

/// Users who joined or left a channel, or changed their state on it.
public struct PresenceChange: Sendable {
    /// The kind of a change, with the ids of the users.
    public enum Action: Sendable, Equatable {
        case join([String])
        case leave([String])
        /// The users did not send a heartbeat in time.
        case timeout([String])
        case stateChange(userId: String, state: AnyJSON)
    }

    /// The event that reports the change.
    public let event: LiveEvent
    /// The actions, in the order of the cases of ``Action``. A channel with many users reports several users in one
    /// event. The list is empty when only the number of users is known.
    public let actions: [Action]
    /// The number of users on the channel after the change.
    public let occupancy: Int
    /// True when the lists of users were too long for the event. Read all users with
    /// ``Channel/whoIsPresent(limit:page:)``.
    public let refreshHereNow: Bool

    init(_ event: LiveEvent) {
        let data = event.payload
        let user = data["user"]?.text("id").map { [$0] } ?? []
        self.event = event
        occupancy = data.count("occupancy")
        refreshHereNow = data.flag("here_now_refresh")
        actions =
            switch event.type {
            case "presence.joined": [.join(user)]
            case "presence.left": [.leave(user)]
            case "presence.timed_out": [.timeout(user)]
            case "presence.state_changed":
                [.stateChange(userId: user.first ?? "", state: data["state"] ?? .object([:]))]
            default:
                [
                    Action.join(data.list("joined")), .leave(data.list("left")), .timeout(data.list("timed_out")),
                ].filter { !$0.isEmpty }
            }
    }

    /// The channel's name.
    public var channelId: String { event.channel.name }
    /// The time of the change.
    public var timetoken: Timetoken { event.timetoken }
}

extension PresenceChange.Action {
    fileprivate var isEmpty: Bool {
        switch self {
        case .join(let users), .leave(let users), .timeout(let users): users.isEmpty
        case .stateChange: false
        }
    }
}
